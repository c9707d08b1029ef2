import KindredModelImport
public import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One side of a comparison of schemas.
public enum SchemaSource: Sendable {
    /// A database, whose catalog is read: one round trip, no locks except on the catalog itself.
    case database(PostgresConfiguration)
    /// A script of SQL, which runs on an embedded server, and its name in errors.
    ///
    /// The DDL of any other model is given in this way, too.
    case sql(String, name: String = "the script")
    /// The JSON of `kindred inspect --format json`, and its name in errors.
    ///
    /// It holds less than a schema, so only its contents are compared; see ``SchemaDifferences/isOfModels``.
    case inspection(String, name: String = "the inspection")

    /// Reads the source that a command's argument names: a database's address, a file with SQL or JSON, or a Core Data
    /// model, whose tables, as ``ModelImport`` makes them, are compared.
    ///
    /// Asks no database.
    ///
    /// - Throws: ``SchemaDifferencesError`` with the code `invalidSource`, which repeats no address.
    public init(argument: String) throws {
        let start = argument.prefix(16).lowercased()
        if start.hasPrefix("postgres://") || start.hasPrefix("postgresql://") {
            do {
                self = .database(try PostgresConfiguration(uri: argument))
            } catch let error as PostgresError {
                throw SchemaDifferencesError(.invalidSource, error.message)
            }
            return
        }
        let path = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
        if path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".xcdatamodel") {
            do {
                self = .sql(try ModelImport(try CoreDataModel(at: path)).sql, name: argument)
            } catch let error as ModelImportError {
                throw SchemaDifferencesError(.invalidSource, error.message)
            }
            return
        }
        let text: String
        do {
            text = try String(contentsOfFile: argument, encoding: .utf8)
        } catch {
            throw SchemaDifferencesError(
                .invalidSource,
                "\(argument) is neither a database's address nor a file with SQL or JSON in UTF-8 that can be read.")
        }
        let isJSON = argument.lowercased().hasSuffix(".json") || text.first { !$0.isWhitespace } == "{"
        self = isJSON ? .inspection(text, name: argument) : .sql(text, name: argument)
    }

    var isInspection: Bool { if case .inspection = self { true } else { false } }
}
