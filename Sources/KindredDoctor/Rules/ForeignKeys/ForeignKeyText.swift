import KindredPostgres
import KindredSchema

/// Writes foreign keys out.
enum ForeignKeyText {
    static func action(_ letter: UInt8) -> String {
        switch letter {
        case UInt8(ascii: "c"): "CASCADE"
        case UInt8(ascii: "n"): "SET NULL"
        case UInt8(ascii: "d"): "SET DEFAULT"
        case UInt8(ascii: "r"): "RESTRICT"
        default: "NO ACTION"
        }
    }

    /// The key without its name, from FOREIGN KEY on.
    ///
    /// - Parameters:
    ///   - columns: The names of the referring columns; by default the key's own.
    ///   - onDelete: The action of a deletion, if it is to change.
    static func definition(
        _ key: DoctorCatalog.ForeignKey, columns: [String]? = nil, onDelete: String? = nil, onUpdate: String? = nil,
        in examination: Examination
    ) throws -> String {
        let names = columns ?? examination.names(key.columns, of: key.relation)
        let others = examination.names(key.targetColumns, of: key.target)
        return try definition(
            key, names, "(\(try RepairText.list(others)))", onDelete: onDelete, onUpdate: onUpdate, in: examination)
    }

    /// The key without its name, to the primary key of the other table whichever other index has the same columns.
    ///
    /// - Parameter order: The columns of the primary key.
    static func definition(
        _ key: DoctorCatalog.ForeignKey, inOrderOf order: [Int16], in examination: Examination
    ) throws -> String {
        let columns = order.compactMap { number in key.targetColumns.firstIndex(of: number).map { key.columns[$0] } }
        let names = examination.names(columns, of: key.relation)
        guard names.count == key.columns.count else { throw UnknownTable() }
        return try definition(key, names, nil, onDelete: nil, onUpdate: nil, in: examination)
    }

    private static func definition(
        _ key: DoctorCatalog.ForeignKey, _ names: [String], _ others: String?, onDelete: String?, onUpdate: String?,
        in examination: Examination
    ) throws -> String {
        guard let target = examination.relations[key.target] else { throw UnknownTable() }
        var text = "FOREIGN KEY (\(try RepairText.list(names))) REFERENCES \(try RepairText.name(target))"
        if let others { text += " \(others)" }
        if key.isMatchFull { text += " MATCH FULL" }
        let update = onUpdate ?? action(key.updateAction)
        if update != "NO ACTION" { text += " ON UPDATE \(update)" }
        var delete = onDelete ?? action(key.deleteAction)
        if onDelete == nil, !key.deleteSetColumns.isEmpty {
            delete += " (\(try RepairText.list(examination.names(key.deleteSetColumns, of: key.relation))))"
        }
        if delete != "NO ACTION" { text += " ON DELETE \(delete)" }
        if key.isDeferrable { text += " DEFERRABLE" + (key.isDeferred ? " INITIALLY DEFERRED" : "") }
        return text
    }

    /// A table that the catalog does not show, such as one of an extension.
    struct UnknownTable: Error {}
}
