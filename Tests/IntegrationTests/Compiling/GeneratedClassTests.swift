import CommandSupport
import Foundation
import KindredCommand
import KindredTesting
import Testing

/// Generated classes compile whatever tables, columns and relationships are called.
@Suite(.enabled(if: BuiltModules.arePresent, "the built modules are not beside the sources"))
struct GeneratedClassTests {
    /// Names of types and modules that generated code or its surroundings use, as tables.
    private static let types = [
        "any", "any_object", "array", "bool", "columns", "data", "database_object", "deletion_preparation", "double",
        "element", "entity_mapping", "error", "foundation", "hashable", "id", "identifiable", "int", "key_path",
        "kindred",
        "kindred_models", "kindred_postgres", "kindred_schema", "mapping", "never", "not_overridden", "object",
        "optional",
        "postgres_date", "postgres_json", "postgres_numeric", "postgres_value", "protocol", "result", "row", "self",
        "sendable", "set", "string", "swift", "target", "task", "to_many", "to_one", "type", "typed_object", "uuid",
        "value",
        "void",
    ]

    private static let keywords = [
        "class", "default", "extension", "func", "import", "in", "init", "is", "nil", "operator", "subscript", "super",
        "throws", "where", "await", "async", "actor", "macro", "some",
    ]

    /// Scripts without capitals, characters that no name has, and characters that the compiler refuses.
    private static let others = [
        "期", "顧客", "عميل", "לקוח", "ลูกค้า", "1", "_", "__", "$1", " ", "--", "/*", "*/", "\\", "\\(x)", "`", "'", "\"",
        "😀",
        "👨‍👩‍👧", "é", "e\u{301}", "ß", "ŉ", "İ", "ǆ", "ﬁ", "\u{200B}", "\u{AD}", "\u{202E}", "\u{FEFF}", "a\nb", "\u{2028}",
        "\u{301}a",
        "²", "½", "٣", "a.b", "a b", "A", "HTTPServer", "#if", "@main", "main", "Ａ", "ℵ", "\u{E000}", "\u{FFFC}",
        "a\u{FFFD}",
        "\u{3000}", "〆", "𝒳", "\u{10FFFD}", "person+properties",
    ]

    /// Each table has a column of its own name that refers to the table, and one to a table that all share.
    private static let schema: String = {
        let tables = (types + keywords + others).enumerated().map { number, name in
            let quoted = "\"" + name.replacing("\"", with: "\"\"") + "\""
            return "CREATE TABLE \(quoted) (number integer PRIMARY KEY, \(quoted) integer REFERENCES \(quoted), "
                + "hub integer CONSTRAINT key_\(number) REFERENCES hub);"
        }
        return "CREATE TABLE hub (number integer PRIMARY KEY);\n" + tables.joined(separator: "\n")
    }()

    @Test(.database(.sql(schema))) func theyCompileForEveryTable() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcome = await TestCommand()(
            "generate", "--database", try TestDatabase.current.uri, "--output", folder.path)
        #expect(outcome.status == .success, "\(outcome.error)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count == 2 * (Self.types.count + Self.keywords.count + Self.others.count + 1) + 1)
        let (isRight, output) = try await BuiltModules.typecheck(files.map { folder.appending(path: $0).path })
        #expect(isRight, "\(output.prefix(3_000))")
    }
}
