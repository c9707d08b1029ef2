import Foundation
import Kindred
import TestSupport
import TypeModels

/// The calculations with a type, in SQL and in Swift.
struct TypedArithmetic<Value> {
    typealias Column = ColumnExpression<Value>
    typealias WithValue = (sql: (Column, Value) -> Column, swift: (Value, Value) -> Value)
    typealias WithColumn = (sql: (Column, Column) -> Column, swift: (Value, Value) -> Value)

    let values: [(String, WithValue)]
    let columns: [(String, WithColumn)]
    let quotient: (value: WithValue, column: WithColumn)
    let negative: (sql: (Column) -> Column, swift: (Value) -> Value)
}

extension TypedArithmetic where Value: Numeric & PostgresEncodable & SignedNumeric {
    init(_ divide: @escaping (Value, Value) -> Value) {
        values = [
            ("+ value", ({ $0 + $1 }, { $0 + $1 })), ("- value", ({ $0 - $1 }, { $0 - $1 })),
            ("* value", ({ $0 * $1 }, { $0 * $1 })),
        ]
        columns = [
            ("+ column", ({ $0 + $1 }, { $0 + $1 })), ("- column", ({ $0 - $1 }, { $0 - $1 })),
            ("* column", ({ $0 * $1 }, { $0 * $1 })),
        ]
        quotient = (({ $0 / $1 }, divide), ({ $0 / $1 }, divide))
        negative = ({ -$0 }, { -$0 })
    }
}

extension TypedArithmetic<PostgresNumeric> {
    init() {
        func exact(_ operation: @escaping (Decimal, Decimal) -> Decimal) -> (Value, Value) -> Value {
            { PostgresNumeric(operation(Decimal(exactly: $0) ?? .nan, Decimal(exactly: $1) ?? .nan)) }
        }
        values = [
            ("+ numeric", ({ $0 + $1 }, exact(+))), ("- numeric", ({ $0 - $1 }, exact(-))),
            ("* numeric", ({ $0 * $1 }, exact(*))),
        ]
        columns = [
            ("+ numeric column", ({ $0 + $1 }, exact(+))), ("- numeric column", ({ $0 - $1 }, exact(-))),
            ("* numeric column", ({ $0 * $1 }, exact(*))),
        ]
        quotient = (({ $0 / $1 }, exact(/)), ({ $0 / $1 }, exact(/)))
        negative = ({ -$0 }, { exact(-)(0, $0) })
    }
}

extension OperatorWriter {
    private static let small = Array(-3...6)

    mutating func numbers<Root>(_ left: TypedTerm<Root, Int>, _ right: TypedTerm<Root, Int>) -> TypedCase<Root> {
        let arithmetic = TypedArithmetic<Int>(/)
        var result = calculation(left, right, arithmetic, Self.small, divisors: [1, 2, -3])
        if random.once(in: 6) { result = remainder(result, right) }
        return compare(result, right, Self.small, <)
    }

    private mutating func remainder<Root>(
        _ left: TypedTerm<Root, Int>,
        _ right: TypedTerm<Root, Int>
    ) -> TypedTerm<Root, Int> {
        let divisor = random.pick([2, 3, -4])
        guard Bool.random(using: &random) else {
            return TypedTerm(text: "(\(left.text) \(use("% value")) \(divisor))") {
                left.column($0) % divisor
            } value: {
                left.value($0).map { $0 % divisor }
            }
        }
        return TypedTerm(text: "(\(left.text) \(use("% column")) (\(right.text) * 0 + \(divisor)))") {
            left.column($0) % (right.column($0) * 0 + divisor)
        } value: {
            guard let value = left.value($0), right.value($0) != nil else { return nil }
            return value % divisor
        }
    }

    /// Numbers that are no integers.
    mutating func fractions<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedCase<Root> {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let halves = Self.small.map { Double($0) / 2 }
            let (left, right) = (
                place.term("score", { $0.score }, { $0.score }), other.term("score", { $0.score }, { $0.score })
            )
            return compare(calculation(left, right, .init(/), halves, divisors: [1, 2, -4]), right, halves, <)
        case 1:
            let halves = Self.small.map { Float($0) / 2 }
            let (left, right) = (
                place.term("ratio", { $0.ratio }, { $0.ratio }), other.term("ratio", { $0.ratio }, { $0.ratio })
            )
            return compare(calculation(left, right, .init(/), halves, divisors: [1, 2, -4]), right, halves, <)
        default:
            let (left, right) = (
                place.term("price", { $0.price }, { $0.price }), other.term("price", { $0.price }, { $0.price })
            )
            let result = calculation(left, right, .init(), OperatorWorld.prices, divisors: [1, 2, -4], " numeric")
            return compare(result, right, OperatorWorld.prices, <)
        }
    }

    /// A calculation with a term, or the term itself.
    mutating func calculation<Root, Value>(
        _ left: TypedTerm<Root, Value>,
        _ right: TypedTerm<Root, Value>,
        _ arithmetic: TypedArithmetic<Value>,
        _ values: [Value],
        divisors: [Value],
        _ kind: String = ""
    ) -> TypedTerm<Root, Value> {
        func both(_ first: Value?, _ second: Value?, _ operation: (Value, Value) -> Value) -> Value? {
            guard let first, let second else { return nil }
            return operation(first, second)
        }
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            let (name, operation) = choose(arithmetic.values)
            let value = random.pick(values)
            return TypedTerm(text: "(\(left.text) \(name) \(value))") {
                operation.sql(left.column($0), value)
            } value: {
                both(left.value($0), value, operation.swift)
            }
        case 1, 2:
            let (name, operation) = choose(arithmetic.columns)
            return TypedTerm(text: "(\(left.text) \(name) \(right.text))") {
                operation.sql(left.column($0), right.column($0))
            } value: {
                both(left.value($0), right.value($0), operation.swift)
            }
        case 3:
            let value = random.pick(divisors)
            return TypedTerm(text: "(\(left.text) \(use("/\(kind) value")) \(value))") {
                arithmetic.quotient.value.sql(left.column($0), value)
            } value: {
                both(left.value($0), value, arithmetic.quotient.value.swift)
            }
        case 4:
            // A column that is the divisor wherever it is not NULL.
            let (divisor, minus, plus) = (random.pick(divisors), arithmetic.columns[1].1, arithmetic.values[0].1)
            return TypedTerm(text: "(\(left.text) \(use("/\(kind) column")) (\(right.text) * 0 + \(divisor)))") {
                let column = right.column($0)
                return arithmetic.quotient.column.sql(left.column($0), plus.sql(minus.sql(column, column), divisor))
            } value: {
                right.value($0) == nil ? nil : both(left.value($0), divisor, arithmetic.quotient.column.swift)
            }
        case 5:
            return TypedTerm(text: "\(use("negative\(kind)"))(\(left.text))") {
                arithmetic.negative.sql(left.column($0))
            } value: {
                left.value($0).map(arithmetic.negative.swift)
            }
        default: return left
        }
    }

    /// A whole number of a keeper's.
    mutating func integer<Root>(_ place: TypedPlace<Root, Keeper>, _ depth: Int) -> TypedTerm<Root, Int> {
        switch Int.random(in: 0..<13, using: &random) {
        case 11:
            let (value, shown) = (random.pick(Self.small), use("?? value"))
            let age = place.term("age", { $0.age }, { $0.age })
            // The whole path may lead nowhere.
            return TypedTerm(text: "(\(age.text) \(shown) \(value))") {
                age.column($0) ?? value
            } value: {
                age.value($0) ?? value
            }
        case 12:
            return place.term(use("?? column"), { $0.boss.age ?? $0.rank }, { $0.boss.loaded?.age ?? $0.rank })
        case 0, 1: return place.term("age", { $0.age }, { $0.age })
        case 2: return place.term("rank", { $0.rank }, { $0.rank })
        case 3: return place.term("size", { $0.size }, { $0.size })
        case 4: return place.term("tags.\(use("array count"))", { $0.tags.count }, { $0.tags?.count })
        case 5: return place.term("numbers.\(use("array count"))", { $0.numbers.count }, { $0.numbers.count })
        case 6: return place.term("club.id", { $0.club.id }, { $0.club.loaded?.id })
        case 7:
            let (day, shown) = (OperatorWorld.day(Int.random(in: 5...20, using: &random)), use("date - date"))
            return place.term("born \(shown) \(day)", { $0.born - day }) { keeper in
                keeper.born.map { Int($0.daysSince2000 - day.daysSince2000) }
            }
        case 8: return count(of: place.members("clubs", { $0.clubs }, { $0.clubs.loaded }), depth) { $0.clubCase($1) }
        default: return count(of: place.members("pets", { $0.pets }, { $0.pets.loaded }), depth) { $0.petCase($1) }
        }
    }
}
