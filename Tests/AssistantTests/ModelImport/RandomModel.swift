import TestSupport

@testable import KindredModelImport

/// Random models with everything that has a counterpart, and their files.
struct RandomModel {
    var entities: [CoreDataModel.Entity] = []
    /// The names that are taken in each line of inheritance, so that none has to be changed.
    private var taken: [String: Set<String>] = [:]
    /// Whether an entity inherits from another entity than before, so that names in one table may have to be changed.
    var isMoved = false

    private static let names = [
        "id", "entity", "pk", "name", "a__b", "x_", "_x", "fk", "foreign", "owner", "owner_id", "größe", "select",
        "Order", "café",
        "with space", "quo\"te", "it's", "back\\slash", "key", "parts_position", "parts", "size", "kind", "1st", "x__",
        "MixedCase",
    ]

    init(_ random: inout SeededGenerator) {
        let names = random.shuffledNames([
            "Person", "Item", "Order", "a_b", "Größe", "user", "T__x", "It's", "Fk", "Group",
        ])
        for name in names.prefix(Int.random(in: 1...6, using: &random)) {
            var entity = CoreDataModel.Entity(name: name)
            if !entities.isEmpty, random.chance(30) { entity.parent = random.pick(entities).name }
            entity.isAbstract = random.chance(15)
            entities.append(entity)
        }
        for place in entities.indices {
            for _ in 0..<Int.random(in: 0...5, using: &random) { addAttribute(to: place, &random) }
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) { addRelationships(&random) }
        for place in entities.indices { addIndexes(to: place, &random) }
        entities.shuffle(using: &random)
    }

    var model: CoreDataModel { CoreDataModel(name: "Random", entities: entities) }

    /// The entity at the top.
    private func root(of place: Int) -> String {
        var entity = entities[place]
        while let parent = entity.parent, let found = entities.first(where: { $0.name == parent }) { entity = found }
        return entity.name
    }

    mutating func freeName(_ place: Int, _ random: inout SeededGenerator) -> String {
        let root = root(of: place)
        while true {
            var name = random.pick(Self.names)
            if random.chance(30) { name += "\(Int.random(in: 0...99, using: &random))" }
            if taken[root, default: []].insert(name).inserted { return name }
        }
    }

    mutating func addAttribute(to place: Int, _ random: inout SeededGenerator) {
        let types: [(String, [String], [(String?, String?)])] = [
            ("Integer 16", ["0", "-5"], [("-10", "10"), (nil, "5")]), ("Integer 32", ["1"], [("0", nil)]),
            ("Integer 64", ["9000000000"], [(nil, "9000000001")]), ("Decimal", ["0.0", "12.50"], [("-1.5", "20")]),
            ("Double", ["0.5"], [("0.1", "0.7")]), ("Float", ["1"], [("0.1", nil)]),
            ("String", ["a'b\\", ""], [(nil, "40")]),
            ("Boolean", ["YES"], []), ("Date", ["0"], [("-1", "86400")]), ("Binary", [], []),
            ("UUID", ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"], []), ("URI", ["x:y"], []), ("Transformable", [], []),
        ]
        let (type, defaults, limits) = random.pick(types)
        var attribute = CoreDataModel.Attribute(name: freeName(place, &random), type: type)
        attribute.isOptional = random.chance(60)
        if !defaults.isEmpty, random.chance(50) { attribute.defaultValue = random.pick(defaults) }
        if !limits.isEmpty, random.chance(40) { (attribute.minimum, attribute.maximum) = random.pick(limits) }
        if type == "String", random.chance(20) { attribute.pattern = random.pick(["[a-z]*", "\\w+", "a|b"]) }
        if random.chance(20) { attribute.userInfo = [.init(key: "@kindred", value: "{\"x\": '1'}")] }
        entities[place].attributes.append(attribute)
    }

    mutating func addRelationships(_ random: inout SeededGenerator) {
        let (first, second) = (
            entities.indices.randomElement(using: &random), entities.indices.randomElement(using: &random)
        )
        guard let first, let second else { return }
        let names = (freeName(first, &random), freeName(second, &random))
        func end(_ name: String, _ destination: Int, _ inverse: String, _ random: inout SeededGenerator)
            -> CoreDataModel.Relationship
        {
            var end = CoreDataModel.Relationship(name: name, destination: entities[destination].name)
            end.inverse = inverse
            end.inverseEntity = entities[destination].name
            end.isOptional = random.chance(70)
            end.isToMany = random.chance(55)
            end.deleteRule = random.pick(CoreDataModel.Relationship.DeleteRule.allCases)
            if end.isToMany {
                end.isOrdered = random.chance(30)
                if random.chance(20) { end.minimumCount = Int.random(in: 1...2, using: &random) }
                if random.chance(20) { end.maximumCount = Int.random(in: 2...5, using: &random) }
            } else {
                end.maximumCount = 1
            }
            return end
        }
        entities[first].relationships.append(end(names.0, second, names.1, &random))
        entities[second].relationships.append(end(names.1, first, names.0, &random))
    }

    private mutating func addIndexes(to place: Int, _ random: inout SeededGenerator) {
        let names = entities[place].attributes.filter { $0.type != "Binary" && $0.type != "Transformable" }.map(\.name)
        guard !names.isEmpty else { return }
        if random.chance(30) { entities[place].uniquenessConstraints.append([random.pick(names)]) }
        if random.chance(30) {
            entities[place].indexes.append(
                .init(
                    name: "by\(place)", elements: [.init(property: random.pick(names), isDescending: random.chance(50))]
                ))
        }
    }

    // MARK: The file

    /// The file `contents` as Xcode writes it.
    var contents: String {
        var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<model documentVersion=\"1.0\">\n"
        for entity in entities {
            xml +=
                "<entity"
                + Self.attributes([
                    ("name", entity.name), ("parentEntity", entity.parent),
                    ("isAbstract", entity.isAbstract ? "YES" : nil),
                    ("syncable", "YES"), ("renamingIdentifier", entity.identity.renamingIdentifier),
                ]) + ">\n"
            for attribute in entity.attributes { xml += Self.xml(attribute) }
            for relationship in entity.relationships { xml += Self.xml(relationship) }
            for index in entity.indexes {
                xml += "<fetchIndex" + Self.attributes([("name", index.name)]) + ">"
                for element in index.elements {
                    xml +=
                        "<fetchIndexElement"
                        + Self.attributes([
                            ("property", element.property), ("type", "Binary"),
                            ("order", element.isDescending ? "descending" : "ascending"),
                        ]) + "/>"
                }
                xml += "</fetchIndex>\n"
            }
            if !entity.uniquenessConstraints.isEmpty {
                xml += "<uniquenessConstraints>"
                for names in entity.uniquenessConstraints {
                    xml += "<uniquenessConstraint>"
                    for name in names { xml += "<constraint" + Self.attributes([("value", name)]) + "/>" }
                    xml += "</uniquenessConstraint>"
                }
                xml += "</uniquenessConstraints>\n"
            }
            xml += "</entity>\n"
        }
        return xml + "</model>\n"
    }

    private static func xml(_ attribute: CoreDataModel.Attribute) -> String {
        let isDate = attribute.type == "Date"
        var xml =
            "<attribute"
            + attributes([
                ("name", attribute.name), ("optional", attribute.isOptional ? "YES" : nil),
                ("attributeType", attribute.type),
                (isDate ? "defaultDateTimeInterval" : "defaultValueString", attribute.defaultValue),
                (isDate ? "minDateTimeInterval" : "minValueString", attribute.minimum),
                (isDate ? "maxDateTimeInterval" : "maxValueString", attribute.maximum),
                ("regularExpressionString", attribute.pattern),
                ("renamingIdentifier", attribute.identity.renamingIdentifier),
            ])
        if attribute.userInfo.isEmpty { return xml + "/>\n" }
        xml += "><userInfo>"
        for entry in attribute.userInfo {
            xml += "<entry" + attributes([("key", entry.key), ("value", entry.value)]) + "/>"
        }
        return xml + "</userInfo></attribute>\n"
    }

    private static func xml(_ relationship: CoreDataModel.Relationship) -> String {
        "<relationship"
            + attributes([
                ("name", relationship.name), ("optional", relationship.isOptional ? "YES" : nil),
                ("toMany", relationship.isToMany ? "YES" : nil), ("ordered", relationship.isOrdered ? "YES" : nil),
                ("minCount", relationship.minimumCount.map { "\($0)" }),
                ("maxCount", relationship.maximumCount.map { "\($0)" }),
                ("deletionRule", relationship.deleteRule.rawValue), ("destinationEntity", relationship.destination),
                ("inverseName", relationship.inverse), ("inverseEntity", relationship.inverseEntity),
                ("renamingIdentifier", relationship.identity.renamingIdentifier),
            ]) + "/>\n"
    }

    private static func attributes(_ pairs: [(String, String?)]) -> String {
        pairs.compactMap { name, value in
            value.map {
                let text = $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
                return " \(name)=\"\(text)\""
            }
        }.joined()
    }
}

extension SeededGenerator {
    mutating func shuffledNames(_ names: [String]) -> [String] { names.shuffled(using: &self) }
}
