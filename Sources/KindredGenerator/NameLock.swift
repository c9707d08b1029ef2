import Foundation
import KindredPostgres
import KindredSchema

/// The Swift names of a database's tables, columns, relationships and labels: a file beside the classes, which keeps them
/// stable when a new column or key would claim one.
public struct NameLock: Sendable, Hashable, Codable {
    /// The name of the file, which SwiftPM leaves alone for its leading dot.
    public static let fileName = ".KindredNames.lock.json"

    struct Class: Sendable, Hashable, Codable {
        var name: String
        /// Property names by column.
        var attributes: [String: String] = [:]
        /// Property names by the relationships' permanent keys.
        var relationships: [String: String] = [:]
        /// The columns that identify objects, where they were chosen among unique keys: stored object IDs have them.
        var key: [String]?
    }

    struct Enum: Sendable, Hashable, Codable {
        var name: String
        /// Case names by label.
        var cases: [String: String] = [:]
    }

    struct Composite: Sendable, Hashable, Codable {
        var name: String
        /// Property names by field.
        var fields: [String: String] = [:]
    }

    private var version = 1
    /// The classes by entity, such as `public.person`.
    var entities: [String: Class] = [:]
    /// The enums by type.
    var enums: [String: Enum] = [:]
    /// The composite types; nil if there are none.
    var composites: [String: Composite]?
    /// The types of moments, where they are not PostgreSQL's own.
    var dates: ModelGenerator.Dates?
    /// How foreign keys and their relationships share names, where columns do not keep theirs.
    var foreignKeys: ModelGenerator.ForeignKeyNames?

    /// Creates an empty lock: every name is free.
    public init() {}

    /// Reads a lock file.
    ///
    /// Throws the error of `JSONDecoder` for an invalid file.
    public init(text: String) throws {
        self = try JSONDecoder().decode(NameLock.self, from: Data(text.utf8))
    }

    /// The file's text, sorted.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings can always be encoded.
        guard let data = try? encoder.encode(self) else { return "{}\n" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}

extension NameLock {
    /// The key in the file for a name of the database; unique.
    ///
    /// The name itself, with escapes if it is not in Unicode's composed form (NFC): PostgreSQL distinguishes `é` and
    /// `e\u{301}`, but Swift's dictionaries and many JSON programs do not.
    static func key(_ name: String) -> String {
        // Nearly all names: ASCII is in the composed form, and an escape has a backslash.
        if !name.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) { return name }
        let usual = name.precomposedStringWithCanonicalMapping
        if usual.utf8.elementsEqual(name.utf8), !name.utf8.contains("\\u{".utf8) { return name }
        return name.unicodeScalars.reduce(into: "") { key, scalar in
            switch scalar {
            case "\\": key += "\\\\"
            case _ where scalar.isASCII: key.unicodeScalars.append(scalar)
            default: key += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
    }

    /// The key of a table or type: `public.person`, with quotes around a schema that has a dot.
    static func key(_ name: QualifiedName) -> String {
        let schema = key(name.schema)
        let isPlain = !schema.utf8.contains(UInt8(ascii: ".")) && !schema.utf8.contains(UInt8(ascii: "\""))
        return (isPlain ? schema : "\"\(schema.replacing("\"", with: "\"\""))\"") + "." + key(name.name)
    }
}
