import Foundation
import Kindred
import TestSupport
import TypeModels

extension OperatorWriter {
    /// A comparison of a column with a value, several values or another column.
    mutating func compare<Root, Value: PostgresEncodable>(
        _ left: TypedTerm<Root, Value>,
        _ right: TypedTerm<Root, Value>,
        _ values: [Value],
        _ precedes: @escaping (Value, Value) -> Bool
    ) -> TypedCase<Root> {
        func isEqual(_ first: Value?, _ second: Value?) -> Bool {
            guard let first, let second else { return first == nil && second == nil }
            return !precedes(first, second) && !precedes(second, first)
        }
        func result(
            _ text: String,
            _ condition: @escaping (ColumnExpression<Value>) -> Condition,
            _ holds: @escaping (Value?) -> Bool
        ) -> TypedCase<Root> {
            TypedCase(text: "\(left.text) \(text)") {
                condition(left.column($0))
            } holds: {
                holds(left.value($0))
            }
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            let value = random.once(in: 4) ? nil : random.pick(values)
            return random.once(in: 2)
                ? result("\(use("== value")) \(Self.show(value))", { $0 == value }, { isEqual($0, value) })
                : result("\(use("!= value")) \(Self.show(value))", { $0 != value }, { !isEqual($0, value) })
        case 2, 3:
            let value = random.pick(values)
            let (name, (condition, holds)) = choose(
                [
                    ("< value", ({ $0 < value }, { precedes($0, value) })),
                    ("<= value", ({ $0 <= value }, { !precedes(value, $0) })),
                    ("> value", ({ $0 > value }, { precedes(value, $0) })),
                    (">= value", ({ $0 >= value }, { !precedes($0, value) })),
                ] as [(String, ((ColumnExpression<Value>) -> Condition, (Value) -> Bool))])
            return result("\(name) \(Self.show(value))", condition) { $0.map(holds) ?? false }
        case 4:
            let list = (0..<Int.random(in: 0..<4, using: &random)).map { _ in random.pick(values) }
            return result("\(use("isIn values"))(\(list))", { $0.isIn(list) }) { value in
                value != nil && list.contains { isEqual($0, value) }
            }
        case 5:
            let list = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                random.once(in: 3) ? nil : random.pick(values)
            }
            return result("\(use("isIn optionals"))(\(list))", { $0.isIn(list) }) { value in
                list.contains { isEqual($0, value) }
            }
        case 6:
            let (lower, upper) = (random.pick(values), random.pick(values))
            return result("\(use("isBetween"))(\(lower), \(upper))", { $0.isBetween(lower, upper) }) { value in
                value.map { !precedes($0, lower) && !precedes(upper, $0) } ?? false
            }
        default: return compare(left, right, isEqual, precedes)
        }
    }

    /// A comparison of two columns.
    private mutating func compare<Root, Value>(
        _ left: TypedTerm<Root, Value>,
        _ right: TypedTerm<Root, Value>,
        _ isEqual: @escaping (Value?, Value?) -> Bool,
        _ precedes: @escaping (Value, Value) -> Bool
    ) -> TypedCase<Root> {
        typealias Column = ColumnExpression<Value>
        func ordered(_ holds: @escaping (Value, Value) -> Bool) -> (Value?, Value?) -> Bool {
            { left, right in
                guard let left, let right else { return false }
                return holds(left, right)
            }
        }
        let (name, (condition, holds)) = choose(
            [
                ("== column", ({ $0 == $1 }, isEqual)),
                ("!= column", ({ $0 != $1 }, { !isEqual($0, $1) })),
                ("< column", ({ $0 < $1 }, ordered(precedes))),
                ("<= column", ({ $0 <= $1 }, ordered { !precedes($1, $0) })),
                ("> column", ({ $0 > $1 }, ordered { precedes($1, $0) })),
                (">= column", ({ $0 >= $1 }, ordered { !precedes($0, $1) })),
            ] as [(String, ((Column, Column) -> Condition, (Value?, Value?) -> Bool))])
        return TypedCase(text: "\(left.text) \(name) \(right.text)") {
            condition(left.column($0), right.column($0))
        } holds: {
            holds(left.value($0), right.value($0))
        }
    }

    private static func show<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "nil" }

    /// Booleans, enums and identifiers.
    mutating func singles<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedCase<Root> {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let active = place.term("active", { $0.active }, { $0.active })
            return TypedCase(text: "\(use("! column"))\(active.text)") {
                !active.column($0)
            } holds: {
                active.value($0) == false
            }
        case 1, 2:
            let active = place.term("active", { $0.active }, { $0.active })
            return compare(active, other.term("visible", { $0.visible }, { $0.visible }), [true, false]) { !$0 && $1 }
        case 3:
            return compare(
                place.term("mood", { $0.mood }, { $0.mood }), other.term("mood", { $0.mood }, { $0.mood }),
                Mood.allCases
            ) {
                (Mood.allCases.firstIndex(of: $0) ?? 0) < (Mood.allCases.firstIndex(of: $1) ?? 0)
            }
        default:
            return compare(
                place.term("token", { $0.token }, { $0.token }), other.term("token", { $0.token }, { $0.token }),
                OperatorWorld.tokens
            ) { $0.uuidString < $1.uuidString }
        }
    }

    /// Comparisons of the objects that paths lead to.
    mutating func objects<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedCase<Root> {
        let object = random.once(in: 4) ? nil : random.pick(world.keepers)
        let club = random.pick(world.clubs)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return place.case("\(use("== object")) \(Self.show(object))", { $0 == object }, { $0 === object })
        case 1: return place.case("\(use("!= object")) \(Self.show(object))", { $0 != object }, { $0 !== object })
        case 2:
            return TypedCase(text: "\(place.text) \(use("== path")) \(other.text)") {
                place.columns($0) == other.columns($0)
            } holds: {
                place.object($0) === other.object($0)
            }
        case 3:
            let list = (0..<Int.random(in: 0..<4, using: &random)).map { _ in random.pick(world.keepers) }
            return place.case("\(use("isIn objects"))(\(list))", { $0.isIn(list) }) { object in
                list.contains { $0 === object }
            }
        case 4: return place.case("club == \(club)", { $0.club == club }, { $0?.club.loaded === club })
        default: return place.case("badge == nil", { $0.badge == nil }, { $0?.badge.loaded == nil })
        }
    }
}
