import Foundation

/// `KindredEmbedTool OUTPUT FOLDER NAME…`: writes files of a folder into a file of Swift, as `Migrations.embedded`.
///
/// The plugin `KindredMigrationsPlugin` calls it; each package with the plugin builds it, so that it needs nothing else.
@main
enum KindredEmbedTool {
    static func main() {
        do {
            try write(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func write(_ arguments: [String]) throws {
        guard arguments.count >= 2 else { throw Problem("KindredEmbedTool is called by its plugin") }
        let (output, folder) = (arguments[0], arguments[1])
        let entries = try arguments.dropFirst(2).sorted().map { name in
            let path = "\(folder)/\(name)"
            guard let content = FileManager.default.contents(atPath: path) else {
                throw Problem("\(path) cannot be read")
            }
            guard let text = String(validating: content, as: UTF8.self) else {
                throw Problem("\(path) cannot be read as text in UTF-8")
            }
            return "            \(literal(name)): \(literal(text)),\n"
        }
        let source = """
            import KindredMigrations

            extension Migrations {
                /// The files of the folder of migrations, as they were when the program was built.
                static let embedded = Migrations(
                    files: [
            \(entries.joined())\(entries.isEmpty ? "            :\n" : "")        ])
            }

            """
        try Data(source.utf8).write(to: URL(filePath: output))
    }

    /// A text as a literal of Swift.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": literal += "\\\\"
            case "\"": literal += "\\\""
            case "\n": literal += "\\n"
            case " "..."~": literal.unicodeScalars.append(scalar)
            default: literal += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }
}

private struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
