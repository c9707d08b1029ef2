import Kindred

extension ConditionWriter {
    /// Moments, moved by intervals or compared by the time between them.
    mutating func moment() -> RandomCondition {
        let (day, days) = (Int.random(in: 5...20, using: &random), Int.random(in: -4...4, using: &random))
        let date = PostgresDate(year: 2020, month: 1, day: day)
        let isEarlier = Bool.random(using: &random)
        let moved = { (person: Person) in person.born.map { isEarlier ? $0 - days : $0 + days } }
        let (symbols, holds) = relation { (left: Int, right: Int) in left < right }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return RandomCondition(format: "born \(pick(symbols)) %@", arguments: [date]) { holds($0.born, day) }
        case 1:
            return RandomCondition(
                format: "born - %@ \(pick(symbols)) \(days)", arguments: [date]
            ) { holds($0.born.map { $0 - day }, days) }
        case 2:
            return RandomCondition(
                format: "boss.born - born \(pick(symbols)) %@", arguments: [days]
            ) { person in
                guard let boss = person.boss?.born, let own = person.born else { return holds(nil, days) }
                return holds(boss - own, days)
            }
        default:
            return RandomCondition(
                format: "born \(isEarlier ? "-" : "+") %@ \(pick(symbols)) %@",
                arguments: [PostgresInterval(days: Int32(days)), date]
            ) { holds(moved($0), day) }
        }
    }

    /// Conditions on the parts of a JSON document.
    mutating func document() -> RandomCondition {
        let number = { (person: Person) in person.info.flatMap { $0.isText ? nil : $0.number } }
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let (symbols, holds) = relation { (left: Int, right: Int) in left < right }
            let value = Int.random(in: -2...6, using: &random)
            return RandomCondition(format: "info.n \(pick(symbols)) %@", arguments: [value]) {
                holds(number($0), value)
            }
        case 1:
            let (symbols, holds) = relation { (left: Int, right: Int) in left < right }
            return RandomCondition(format: "age \(pick(symbols)) info.n") { holds($0.age, number($0)) }
        case 2:
            let value = pick(Zoo.names)
            return RandomCondition(format: "info.in.t == %@", arguments: [value]) { $0.info?.text == value }
        case 3:
            let value = Int.random(in: -2...6, using: &random)
            let part = PostgresJSON(text: #"{"n": \#(value)}"#)
            return RandomCondition(format: "info CONTAINS %@", arguments: [part]) { number($0) == value }
        default:
            let values = [Int.random(in: -2...6, using: &random), Int.random(in: -2...6, using: &random)]
            return RandomCondition(format: "info.n IN %@", arguments: [values]) {
                number($0).map(values.contains) ?? false
            }
        }
    }

    /// A condition of several parts on one and the same member, and how many fulfil it.
    mutating func subquery() -> RandomCondition {
        let (weight, count) = (Int.random(in: -2...6, using: &random), Int.random(in: 0...2, using: &random))
        let name = pick(Zoo.names)
        let (symbols, holds) = relation { (left: Int, right: Int) in left < right }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return RandomCondition(
                format: "SUBQUERY(petSet, $pet, $pet.weight > %@ AND $pet.name != %@).@count \(pick(symbols)) \(count)",
                arguments: [weight, name]
            ) { person in
                holds(person.pets.filter { $0.weight.map { $0 > weight } ?? false && $0.name != name }.count, count)
            }
        case 1:
            return RandomCondition(
                format: """
                    SUBQUERY(clubs, $club, SUBQUERY($club.members, $m, $m.age == %@ OR $m.boss == nil).@count > 1).@count \
                    \(pick(symbols)) %@
                    """,
                arguments: [weight, count]
            ) { person in
                let clubs = person.clubs.filter { $0.members.filter { $0.age == weight || $0.boss == nil }.count > 1 }
                return holds(clubs.count, count)
            }
        default:
            return RandomCondition(
                format: "SUBQUERY(boss.petSet, $pet, $pet.weight <= %@).@count \(pick(symbols)) %@",
                arguments: [weight, count]
            ) { person in
                holds(
                    person.boss.map { $0.pets.filter { $0.weight.map { $0 <= weight } ?? false }.count }, count)
            }
        }
    }

    /// Several elements of an array.
    mutating func array() -> RandomCondition {
        let values = (0..<Int.random(in: 0...2, using: &random)).map { _ in pick(Zoo.names) }
        if Bool.random(using: &random) {
            return RandomCondition(format: "tags CONTAINS %@", arguments: [values]) { person in
                guard let tags = person.tags else { return false }
                return values.allSatisfy(tags.contains)
            }
        }
        return RandomCondition(format: "ANY tags IN %@", arguments: [values]) { person in
            (person.tags ?? []).contains { tag in tag.map(values.contains) ?? false }
        }
    }
}
