import KindredPostgres
import KindredSchema

extension ModelGenerator {
    /// `Person+Properties.swift`: the mapping and a property for each column and relationship.
    func propertiesFile(_ entity: Entity) -> String {
        let name = names.className(of: entity)
        let attributes = entity.attributes.filter { !$0.isHidden }
        let relationships = names.relationships(of: entity)
        var mappings: [String] = []
        var properties: [String] = []
        var given: [String] = []
        for attribute in attributes {
            let property = names.property(of: attribute, in: entity)
            mappings.append(
                SwiftText.call(
                    ".attribute",
                    [
                        "\\\(name).\(property)", SwiftText.literal(attribute.name),
                        SwiftText.literal(attribute.valueKind),
                    ] + nameArgument(property, unless: attribute.name),
                    indentation: 12
                )
            )
            given.append(property)
            properties.append(self.property(attribute, named: property, in: entity))
        }
        for relationship in relationships {
            let property = names.property(of: relationship, in: entity)
            mappings.append(
                SwiftText.call(
                    relationship.isToMany ? ".toMany" : ".toOne",
                    ["\\\(name).\(property)", SwiftText.literal(names.key(of: relationship, in: entity))]
                        + nameArgument(property, unless: nil),
                    indentation: 12
                )
            )
            given.append(property)
            properties.append(self.property(relationship, named: property, in: entity))
        }
        let key = keyTypes(of: entity)
        let misfits = dateMisfits(attributes, in: entity)
        let needsFoundation = types.needsFoundation(attributes) || !misfits.isEmpty
        let foundation = needsFoundation ? "\(modifier)import Foundation\n" : ""
        // An entity outside the search path is found only by its schema.
        let isReached =
            schema.searchPath.contains(entity.name.schema) && schema.following(entity.name) == entity.name
        let qualification = isReached ? "" : "\n        isQualified: true,"
        let chosenKey = names.chosenKey(of: entity).map { key in
            "\n        key: [\(key.map(SwiftText.literal).joined(separator: ", "))],"
        }
        return """
            \(Self.header)

            \(foundation)\(modifier)import Kindred

            extension \(name): \(key.isEmpty ? "TypedObject" : "KeyedObject") {
            \(key)    /// The entity \(SwiftText.code(entity.name.description)), and what stands behind each property.
                \(modifier)static let mapping = EntityMapping(
                    schema: \(SwiftText.literal(entity.name.schema)),
                    name: \(SwiftText.literal(entity.name.name)),\(qualification)\(chosenKey ?? "")
                    [
            \(mappings.map { "            \($0)," }.joined(separator: "\n"))
                    ]
                )
            }

            extension \(name) {
            \(numbers(given))\(properties.joined(separator: "\n\n"))
            }
            \(newValues(of: entity))\(misfits)
            """
    }

    /// Whether classes know the columns of an entity's key.
    func isKeyed(_ entity: Entity) -> Bool {
        let key = key(of: entity)
        return !key.isEmpty && key.allSatisfy { entity.attribute(named: $0)?.isHidden == false }
    }

    /// The columns that identify the objects of an entity's class.
    func key(of entity: Entity) -> [String] { names.chosenKey(of: entity) ?? entity.primaryKey }

    /// The types of an entity's key and of its objects, by which foreign keys are given.
    private func keyTypes(of entity: Entity) -> String {
        guard isKeyed(entity) else { return "" }
        let names = key(of: entity).compactMap { entity.attribute(named: $0) }.map { types.type(of: $0).name }
        return """
                /// The class of the objects.
                \(modifier)typealias Target = \(self.names.className(of: entity))
                /// The type of the key.
                \(modifier)typealias PrimaryKey = \(names.count == 1 ? names[0] : "(\(names.joined(separator: ", ")))")

            """
    }

    /// The places of the properties in the mapping, by name: a new column changes no other line.
    private func numbers(_ properties: [String]) -> String {
        if properties.isEmpty { return "" }
        return """
                /// The properties, in the order of the mapping.
                private enum PropertyNumber: Int {
            \(properties.map { "        case \($0)" }.joined(separator: "\n"))
                }


            """
    }

    /// Overloads that the compiler finds where a `Date` is given to a property of another type, to say what to write instead.
    private func dateMisfits(_ attributes: [Attribute], in entity: Entity) -> String {
        let properties = attributes.filter { isWritable($0, in: entity) && !$0.isLazy }.compactMap {
            attribute -> String? in
            guard let way = types.wayFromDate(to: attribute) else { return nil }
            return """
                    /// Not available: the column has another type than `Date`.
                    @available(*, unavailable, message: "\(way)")
                    \(modifier)var \(names.property(of: attribute, in: entity)): Date\(attribute.isNotNull ? "" : "?") {
                        get { Date() }
                        set {}
                    }
                """
        }
        guard !properties.isEmpty else { return "" }
        return """

            extension TypedObject where Self: \(names.className(of: entity)) {
            \(properties.joined(separator: "\n\n"))
            }

            """
    }

    /// The number of a property, which the compiler makes a constant.
    static func number(of property: String) -> String { "PropertyNumber.\(property).rawValue" }

    func isWritable(_ attribute: Attribute, in entity: Entity) -> Bool {
        !entity.isReadOnly && !attribute.isGenerated && attribute.identity != .always
            && entity.optimisticLocking != .column(attribute.name)
    }

    /// The name of a property for JSON, if it differs from its column's.
    private func nameArgument(_ property: String, unless column: String?) -> [String] {
        let name = SwiftText.bare(property)
        return name == column ? [] : ["name: \(SwiftText.literal(name))"]
    }

    private func property(_ attribute: Attribute, named property: String, in entity: Entity) -> String {
        let type = types.type(of: attribute)
        let number = Self.number(of: property)
        let read = !type.isArray ? "readProperty" : attribute.hasRequiredElements ? "readElements" : "readArray"
        let value = "\(type.name)\(attribute.isNotNull ? "" : "?")"
        if attribute.isLazy {
            return """
                    /// The column \(SwiftText.code(attribute.name)), loaded when it is asked for.
                    \(modifier)var \(property): LazyAttribute<\(value)> {
                        lazyProperty(\(number))
                    }
                """
        }
        let declaration = "    \(modifier)var \(property): \(value) {"
        // Until a new object is saved, columns filled by the database and required columns without a value are NULL in
        // memory.
        let neutral = attribute.isNotNull ? "; \(type.neutral) while a new object has no value" : ""
        // A row with such a value cannot be read.
        let loss = ["Date", "[Date?]", "[Date]"].contains(type.name) ? ", without infinities" : ""
        let comment = "    /// The column \(SwiftText.code(attribute.name))\(loss)\(neutral)."
        guard isWritable(attribute, in: entity) else {
            return """
                \(comment)
                \(declaration)
                        \(read)(\(number))
                    }
                """
        }
        return """
            \(comment)
            \(declaration)
                    get { \(read)(\(number)) }
                    set { writeProperty(\(number), newValue) }
                }
            """
    }

    private func property(
        _ relationship: Relationship, named property: String, in entity: Entity
    ) -> String {
        let destination = names.className(of: relationship.destination)
        let number = Self.number(of: property)
        let type =
            relationship.isToMany
            ? "ToMany<\(destination)>"
            : "ToOne<\(destination)\(relationship.mayLeadNowhere(from: entity) ? "?" : "")>"
        let declaration = """
                /// The relationship \(SwiftText.code(relationship.name)).
                \(modifier)var \(property): \(type) {
            """
        guard !relationship.isToMany else {
            return """
                \(declaration)
                        toManyProperty(\(number))
                    }
                """
        }
        // An assignment cannot wait for the database: the compiler is to name the call that does.
        let message = SwiftText.literal("call try await \(property).set(object)")
        return """
            \(declaration)
                    get { toOneProperty(\(number)) }
                    @available(*, unavailable, message: \(message))
                    set {}
                }
            """
    }

    /// A Swift enum for an enum of the database.
    func enumFile(_ type: UserType) -> String {
        guard case .enumeration(let labels) = type.definition else { return "" }
        let name = names.typeName(of: type.name)
        let cases = labels.map { (label: $0, name: names.caseName(of: $0, in: type.name)) }
        /// A line for each case, with newlines: an enum may have no labels.
        func lines(_ indentation: Int, _ line: ((label: String, name: String)) -> String) -> String {
            cases.map { String(repeating: " ", count: indentation) + line($0) + "\n" }.joined()
        }
        let all = cases.isEmpty ? "[]" : "[\n\(lines(8) { ".\($0.name)," })    ]"
        return """
            \(Self.header)

            \(modifier)import Kindred

            /// The enum \(SwiftText.code(type.name.description)).
            \(modifier)enum \(name): DatabaseEnum {
            \(lines(4) { "/// The label \(SwiftText.code($0.label)).\n    case \($0.name)" })\
                /// A label that the database did not have when this file was written.
                case unknown(String)

                /// The labels known when this file was written, in the database's order.
                \(modifier)static let allCases: [\(name)] = \(all)

                /// The value of a label; `unknown` for one that is not known.
                \(modifier)init(rawValue: String) {
                    switch rawValue {
            \(lines(8) { "case \(SwiftText.literal($0.label)): self = .\($0.name)" })\
                    default: self = .unknown(rawValue)
                    }
                }

                /// The label.
                \(modifier)var rawValue: String {
                    switch self {
            \(lines(8) { "case .\($0.name): \(SwiftText.literal($0.label))" })\
                    case .unknown(let label): label
                    }
                }
            }

            """
    }
}
