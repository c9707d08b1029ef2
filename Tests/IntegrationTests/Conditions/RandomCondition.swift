import Kindred
import TestSupport

/// A condition as a format with its arguments, and its meaning in Swift.
struct RandomCondition {
    typealias Argument = (any PropertyValue)?

    var format: String
    var arguments: [Argument] = []
    let holds: (Person) -> Bool

    /// A part of a comparison: a key path, a value or a calculation.
    struct Term<Value> {
        var format: String
        var arguments: [Argument] = []
        let value: (Person) -> Value?
    }

    /// The objects that conditions compare with, by key.
    struct Objects {
        let people: [Int: DatabaseObject]
        let pets: [Int: DatabaseObject]
        let clubs: [Int: DatabaseObject]
        let houses: [String: DatabaseObject]
        let zoo: Zoo
    }
}

/// Writes random conditions.
struct ConditionWriter {
    var random: SeededGenerator
    let objects: RandomCondition.Objects

    mutating func condition(_ depth: Int = 3) -> RandomCondition {
        switch depth == 0 ? 9 : Int.random(in: 0..<14, using: &random) {
        case 0, 1:
            let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in condition(depth - 1) }
            let isAnd = Bool.random(using: &random)
            let symbol = pick(isAnd ? ["AND", "&&"] : ["OR", "||"])
            return RandomCondition(
                format: "(\(parts.map(\.format).joined(separator: " \(symbol) ")))",
                arguments: parts.flatMap(\.arguments)
            ) { person in
                isAnd ? parts.allSatisfy { $0.holds(person) } : parts.contains { $0.holds(person) }
            }
        case 2, 3:
            let inner = condition(depth - 1)
            return RandomCondition(format: "\(pick(["NOT ", "!"]))(\(inner.format))", arguments: inner.arguments) {
                !inner.holds($0)
            }
        default: return comparison()
        }
    }

    mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }

    mutating func comparison() -> RandomCondition {
        switch Int.random(in: 0..<21, using: &random) {
        case 16: return moment()
        case 17: return document()
        case 18, 19: return subquery()
        case 20: return array()
        case 0, 1, 2: return compare(number(), number(), <)
        case 3, 4: return compare(text(), text()) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        case 5, 6: return search(text(), path: false)
        case 7: return numberIn(number())
        case 8: return textIn(text())
        case 9: return between()
        case 10, 11: return quantified()
        case 12, 13: return objectComparison()
        case 14: return enumOrBool()
        default: return missing()
        }
    }

    /// `==` and the other comparisons: nil equals nil, and has no order.
    mutating func compare<T: Equatable>(
        _ left: RandomCondition.Term<T>,
        _ right: RandomCondition.Term<T>,
        _ precedes: @escaping (T, T) -> Bool
    ) -> RandomCondition {
        let (symbols, holds) = relation(precedes)
        return RandomCondition(
            format: "\(left.format) \(pick(symbols)) \(right.format)",
            arguments: left.arguments + right.arguments
        ) { holds(left.value($0), right.value($0)) }
    }

    mutating func relation<T: Equatable>(
        _ precedes: @escaping (T, T) -> Bool
    ) -> ([String], (T?, T?) -> Bool) {
        func ordered(_ body: @escaping (T, T) -> Bool) -> (T?, T?) -> Bool {
            { left, right in
                guard let left, let right else { return false }
                return body(left, right)
            }
        }
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: (["==", "="], { $0 == $1 })
        case 1: (["!=", "<>"], { $0 != $1 })
        case 2: (["<"], ordered(precedes))
        case 3: (["<=", "=<"], ordered { !precedes($1, $0) })
        case 4: ([">"], ordered { precedes($1, $0) })
        default: ([">=", "=>"], ordered { !precedes($0, $1) })
        }
    }

    mutating func number() -> RandomCondition.Term<Int> {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: return .init(format: "age") { $0.age }
        case 2: return .init(format: "rank") { $0.rank }
        case 3: return .init(format: "boss.age") { $0.boss?.age }
        case 4: return .init(format: "boss.boss.rank") { $0.boss?.boss?.rank }
        case 5: return .init(format: "boss.id") { $0.boss?.id }
        case 6: return .init(format: "house.floors") { $0.house?.floors }
        case 7: return .init(format: pick(["petSet.@count", "SELF.petSet.@count"])) { $0.pets.count }
        case 8:
            let isClubs = Bool.random(using: &random)
            return isClubs
                ? .init(format: "clubs.@count") { $0.clubs.count } : .init(format: "tags.@count") { $0.tags?.count }
        case 9:
            let value = Int.random(in: -3...6, using: &random)
            return .init(format: pick(["%@", "%d"]), arguments: [value]) { _ in value }
        case 10:
            let (left, right) = (number(), number())
            let times = Bool.random(using: &random)
            return .init(
                format: "(\(left.format) \(times ? "*" : "-") \(right.format))",
                arguments: left.arguments + right.arguments
            ) { person in
                guard let left = left.value(person), let right = right.value(person) else { return nil }
                return times ? left &* right : left &- right
            }
        default:
            let value = Int.random(in: -3...6, using: &random)
            return .init(format: "\(value)") { _ in value }
        }
    }

    mutating func text() -> RandomCondition.Term<String> {
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: return .init(format: "name") { $0.name }
        case 2: return .init(format: "code") { $0.code }
        case 3: return .init(format: "boss.name") { $0.boss?.name }
        case 4: return .init(format: "badge.label") { $0.badge.flatMap { $0 } }
        case 5: return .init(format: "house.street") { $0.house?.street }
        case 6: return .init(format: "%K", arguments: ["boss.boss.name"]) { $0.boss?.boss?.name }
        default:
            let value = pick(Zoo.names)
            return .init(format: "%@", arguments: [value]) { _ in value }
        }
    }
}
