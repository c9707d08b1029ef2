import KindredPostgres

/// Finds the name of a schema in SQL that the server wrote, where it stands before a point, and puts the mark of tenants there.
struct SchemaNameText {
    private let schema: String

    init(_ schema: String) { self.schema = schema }

    /// The text with the mark in place of the schema's name; texts in single quotes stay as they are.
    func marked(_ text: String) -> String {
        guard text.contains(schema.prefix(1)) else { return text }
        var result = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            switch scalar {
            case "'": result += taken(&rest, through: "'").written
            case "\"":
                let name = taken(&rest, through: "\"")
                result += isSchema(name.content, before: rest) ? TenantSchema.mark : name.written
            case _ where Self.isPart(scalar):
                let word = rest.prefix(while: Self.isPart)
                rest = rest[word.endIndex...]
                result += isSchema(String(word), before: rest) ? TenantSchema.mark : String(word)
            default:
                result.unicodeScalars.append(scalar)
                rest.removeFirst()
            }
        }
        return result
    }

    private func isSchema(_ name: String, before rest: Substring.UnicodeScalarView) -> Bool {
        rest.first == "." && name == schema
    }

    /// Whether a name without quotes may hold the character.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "$" || scalar.value >= 0x80 || ("a"..."z").contains(scalar)
            || ("A"..."Z").contains(scalar)
            || ("0"..."9").contains(scalar)
    }

    /// Takes a text in quotes, which stand twice inside it.
    private func taken(
        _ rest: inout Substring.UnicodeScalarView, through quote: Unicode.Scalar
    ) -> (written: String, content: String) {
        var (written, content) = (String(rest.removeFirst()), "")
        while let scalar = rest.popFirst() {
            written.unicodeScalars.append(scalar)
            if scalar == quote {
                guard rest.first == quote else { break }
                written.unicodeScalars.append(rest.removeFirst())
            }
            content.unicodeScalars.append(scalar)
        }
        return (written, content)
    }
}
