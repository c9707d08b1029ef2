import TestSupport

@testable import KindredModelImport

extension RandomModel {
    /// Makes the next version: some things are renamed, some change, some come and some go.
    mutating func change(_ random: inout SeededGenerator) {
        for place in entities.indices {
            for number in entities[place].attributes.indices where random.chance(30) {
                let old = entities[place].attributes[number].name
                switch Int.random(in: 0...4, using: &random) {
                case 0:
                    let name = freeName(place, &random)
                    rename(old, name, place)
                    entities[place].attributes[number].name = name
                    entities[place].attributes[number].identity.renamingIdentifier = old
                case 1: entities[place].attributes[number].isOptional.toggle()
                case 2:
                    let type = entities[place].attributes[number].type
                    if type.hasPrefix("Integer") {
                        entities[place].attributes[number].type = random.pick(["Integer 64", "String", "Decimal"])
                    }
                    entities[place].attributes[number].defaultValue = nil
                    entities[place].attributes[number].minimum = nil
                    entities[place].attributes[number].maximum = nil
                case 3: entities[place].attributes[number].userInfo = [.init(key: "a", value: "b")]
                default: break
                }
            }
            if random.chance(30) { addAttribute(to: place, &random) }
        }
        for place in entities.indices {
            for number in entities[place].relationships.indices where random.chance(30) {
                switch Int.random(in: 0...2, using: &random) {
                case 0: renameRelationship(place, number, freeName(place, &random))
                case 1:
                    entities[place].relationships[number].deleteRule = random.pick(
                        CoreDataModel.Relationship.DeleteRule.allCases)
                default: entities[place].relationships[number].isOptional.toggle()
                }
            }
        }
        if random.chance(40) { addRelationships(&random) }
        if random.chance(40) { removeRelationship(&random) }
        if random.chance(40), let place = entities.indices.randomElement(using: &random) {
            renameEntity(place, "Renamed\(Int.random(in: 0...9, using: &random))")
        }
        if random.chance(20), entities.count > 1 { exchangeNames(0, 1) }
        if random.chance(30) { entities.append(CoreDataModel.Entity(name: "Added")) }
        if random.chance(30) { removeEntity(&random) }
        if random.chance(15) { move(&random) }
        entities.shuffle(using: &random)
    }

    private mutating func rename(_ old: String, _ new: String, _ place: Int) {
        for list in entities[place].uniquenessConstraints.indices {
            entities[place].uniquenessConstraints[list] = entities[place].uniquenessConstraints[list].map {
                $0 == old ? new : $0
            }
        }
        for index in entities[place].indexes.indices {
            for part in entities[place].indexes[index].elements.indices
            where entities[place].indexes[index].elements[part].property == old {
                entities[place].indexes[index].elements[part].property = new
            }
        }
    }

    private mutating func renameRelationship(_ place: Int, _ number: Int, _ name: String) {
        let relationship = entities[place].relationships[number]
        entities[place].relationships[number].name = name
        entities[place].relationships[number].identity.renamingIdentifier = relationship.name
        for other in entities.indices where entities[other].name == relationship.destination {
            for end in entities[other].relationships.indices
            where entities[other].relationships[end].name == relationship.inverse
                && entities[other].relationships[end].destination == entities[place].name
            {
                entities[other].relationships[end].inverse = name
            }
        }
    }

    private mutating func removeRelationship(_ random: inout SeededGenerator) {
        guard let place = entities.indices.randomElement(using: &random),
            let gone = entities[place].relationships.randomElement(using: &random)
        else { return }
        let owner = entities[place].name
        entities[place].relationships.removeAll { $0.name == gone.name }
        for other in entities.indices where entities[other].name == gone.destination {
            entities[other].relationships.removeAll { $0.name == gone.inverse && $0.destination == owner }
        }
    }

    private mutating func renameEntity(_ place: Int, _ name: String) {
        let old = entities[place].name
        entities[place].name = name
        entities[place].identity.renamingIdentifier = old
        for other in entities.indices {
            if entities[other].parent == old { entities[other].parent = name }
            for end in entities[other].relationships.indices {
                if entities[other].relationships[end].destination == old {
                    entities[other].relationships[end].destination = name
                }
                if entities[other].relationships[end].inverseEntity == old {
                    entities[other].relationships[end].inverseEntity = name
                }
            }
        }
    }

    private mutating func exchangeNames(_ first: Int, _ second: Int) {
        let names = (entities[first].name, entities[second].name)
        let before = (
            entities[first].identity.renamingIdentifier ?? names.0,
            entities[second].identity.renamingIdentifier ?? names.1
        )
        renameEntity(first, "between")
        renameEntity(second, names.0)
        renameEntity(first, names.1)
        entities[first].identity.renamingIdentifier = before.0
        entities[second].identity.renamingIdentifier = before.1
    }

    /// Lets an entity without sub-entities inherit from another entity, or from none.
    private mutating func move(_ random: inout SeededGenerator) {
        let leaves = entities.indices.filter { place in !entities.contains { $0.parent == entities[place].name } }
        guard let place = leaves.randomElement(using: &random) else { return }
        let others = entities.map(\.name).filter { $0 != entities[place].name }
        entities[place].parent = random.chance(50) ? others.randomElement(using: &random) : nil
        isMoved = true
    }

    private mutating func removeEntity(_ random: inout SeededGenerator) {
        let leaves = entities.filter { entity in !entities.contains { $0.parent == entity.name } }
        guard entities.count > 1, let gone = leaves.randomElement(using: &random) else { return }
        entities.removeAll { $0.name == gone.name }
        for place in entities.indices { entities[place].relationships.removeAll { $0.destination == gone.name } }
    }
}
