import KindredSchema

extension ModelGenerator {
    /// A Swift struct for a composite type of the database.
    func compositeFile(_ type: UserType) -> String {
        guard case .composite(let attributes) = type.definition else { return "" }
        let name = names.typeName(of: type.name)
        let fields = attributes.map { attribute in
            let swiftType = types.type(of: attribute)
            return Field(
                column: attribute.name, property: names.property(of: attribute.name, in: type.name),
                type: "\(swiftType.name)?", isArray: swiftType.isArray)
        }
        let foundation = types.needsFoundation(attributes) ? "\(modifier)import Foundation\n" : ""
        let properties = fields.map { field in
            "    /// The field \(SwiftText.code(field.column)).\n    \(modifier)var \(field.property): \(field.type)"
        }
        let parameters = fields.map { "\($0.property): \($0.type) = nil" }
        let assignments = fields.map { "        self.\(SwiftText.bare($0.property)) = \($0.property)" }
        let readings = fields.map { field in
            let decode = field.isArray ? "decodeArray" : "decode"
            return "        \(field.property) = try composite.\(decode)(\(SwiftText.literal(field.column)))"
        }
        let values = fields.map { field in
            "                try PostgresComposite.Field(\(SwiftText.literal(field.column)), \(field.property)),"
        }
        /// A block in braces or brackets; a composite type may have no fields.
        func block(_ open: String, _ lines: [String], _ close: String, indentation: Int = 4) -> String {
            if lines.isEmpty { return open + close }
            let blanks = String(repeating: " ", count: indentation)
            return "\(open)\n\(lines.joined(separator: "\n"))\n\(blanks)\(close)"
        }
        return """
            \(Self.header)

            \(foundation)\(modifier)import Kindred

            /// The composite type \(SwiftText.code(type.name.description)).
            \(modifier)struct \(name): DatabaseComposite {
            \(properties.map { $0 + "\n" }.joined())\(properties.isEmpty ? "" : "\n")\
                /// Creates a value; what is left out is NULL.
                \(SwiftText.declaration("\(modifier)init", parameters, indentation: 4)) \(block("{", assignments, "}"))

                /// A value whose fields are all NULL: what a property shows while its object has no value yet.
                \(modifier)static var neutralValue: \(name) { \(name)() }

                /// Reads a value.
                \(modifier)init(composite: PostgresComposite) throws \(block("{", readings, "}"))

                /// The value, as the database takes it.
                \(modifier)var composite: PostgresComposite {
                    get throws {
                        PostgresComposite(fields: \(block("[", values, "]", indentation: 12)))
                    }
                }
            }

            """
    }

    private struct Field {
        let column: String
        let property: String
        let type: String
        let isArray: Bool
    }
}
