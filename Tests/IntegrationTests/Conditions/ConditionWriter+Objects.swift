import Kindred

extension ConditionWriter {
    /// `ANY`, `ALL` and `NONE` over members.
    mutating func quantified() -> RandomCondition {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return over("petSet.weight", { $0.pets.map(\.weight) }, number(), <)
        case 1:
            return over("petSet.name", { $0.pets.map(\.name) }, text()) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        case 2:
            return over("clubs.name", { $0.clubs.map(\.name) }, text()) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        case 3: return over("clubs.members.age", { $0.clubs.flatMap { $0.members.map(\.age) } }, number(), <)
        case 4: return over("boss.petSet.weight", { $0.boss?.pets.map(\.weight) ?? [] }, number(), <)
        case 5: return over("petSet.owner.boss.age", { $0.pets.map { $0.owner?.boss?.age } }, number(), <)
        default: return over("tags", { $0.tags ?? [] }, text()) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    private mutating func over<T: Equatable>(
        _ path: String,
        _ members: @escaping (Person) -> [T?],
        _ other: RandomCondition.Term<T>,
        _ precedes: @escaping (T, T) -> Bool
    ) -> RandomCondition {
        let (symbols, holds) = relation(precedes)
        let quantifier = pick(["ANY", "SOME", "ALL", "NONE"])
        return RandomCondition(
            format: "\(quantifier) \(path) \(pick(symbols)) \(other.format)",
            arguments: other.arguments
        ) { person in
            let results = members(person).map { holds($0, other.value(person)) }
            return switch quantifier {
            case "ALL": results.allSatisfy(\.self)
            case "NONE": !results.contains(true)
            default: results.contains(true)
            }
        }
    }

    mutating func objectComparison() -> RandomCondition {
        let zoo = objects.zoo
        let (person, other) = (pick(zoo.people), pick(zoo.people))
        let (pet, club, house) = (pick(zoo.pets), pick(zoo.clubs), pick(zoo.houses))
        let personObject = objects.people[person.id]
        let otherObject = objects.people[other.id]
        let houseObject = objects.houses["\(house.street)/\(house.number)"]
        let isNegated = Bool.random(using: &random)
        let symbol = isNegated ? "!=" : "=="
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            return RandomCondition(format: "boss \(symbol) %@", arguments: [personObject]) {
                ($0.boss === person) != isNegated
            }
        case 1:
            return RandomCondition(format: "SELF \(symbol) %@", arguments: [personObject]) {
                ($0 === person) != isNegated
            }
        case 2:
            return RandomCondition(format: "house \(symbol) %@", arguments: [houseObject]) {
                ($0.house === house) != isNegated
            }
        case 3:
            return RandomCondition(format: "boss.house \(symbol) house") { ($0.boss?.house === $0.house) != isNegated }
        case 4:
            return RandomCondition(format: "boss IN %@", arguments: [[personObject, otherObject].compactMap(\.self)]) {
                $0.boss === person || $0.boss === other
            }
        case 5:
            return RandomCondition(format: "house IN %@", arguments: [[houseObject].compactMap(\.self)]) {
                $0.house === house
            }
        case 6:
            return RandomCondition(
                format: pick(["ANY petSet == %@", "%@ IN petSet", "petSet CONTAINS %@"]),
                arguments: [objects.pets[pet.id]]
            ) {
                $0.pets.contains { $0 === pet }
            }
        case 7:
            return RandomCondition(
                format: pick(["ANY clubs == %@", "%@ IN clubs"]), arguments: [objects.clubs[club.id]]
            ) {
                $0.clubs.contains { $0 === club }
            }
        case 8:
            return RandomCondition(format: "NONE clubs.members == %@", arguments: [personObject]) {
                !$0.clubs.contains { $0.members.contains { $0 === person } }
            }
        case 9: return RandomCondition(format: "boss.boss \(symbol) SELF") { ($0.boss?.boss === $0) != isNegated }
        case 10:
            return RandomCondition(format: "ANY petSet IN %@", arguments: [[objects.pets[pet.id]].compactMap(\.self)]) {
                $0.pets.contains { $0 === pet }
            }
        default:
            return RandomCondition(format: "ALL clubs != %@", arguments: [objects.clubs[club.id]]) {
                !$0.clubs.contains { $0 === club }
            }
        }
    }
}
