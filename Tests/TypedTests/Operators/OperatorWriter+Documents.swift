import Foundation
import Kindred
import TestSupport
import TypeModels

extension OperatorWriter {
    /// Arrays and their elements.
    mutating func array<Root>(_ place: TypedPlace<Root, Keeper>) -> TypedCase<Root> {
        let names = (0..<Int.random(in: 0..<3, using: &random)).map { _ in random.pick(OperatorWorld.names) }
        let numbers = (0..<Int.random(in: 0..<3, using: &random)).map { _ in Int.random(in: -2...6, using: &random) }
        let (name, number) = (random.pick(OperatorWorld.names), Int.random(in: -2...6, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            return place.case("tags.\(use("contains element"))(\(name))", { $0.tags.contains(name) }) {
                $0?.tags?.contains(name) ?? false
            }
        case 1:
            return place.case("numbers.\(use("contains element"))(\(number))", { $0.numbers.contains(number) }) {
                $0?.numbers.contains(number) ?? false
            }
        case 2:
            return place.case("tags.\(use("containsAll"))(\(names))", { $0.tags.containsAll(names) }) { keeper in
                (keeper?.tags).map { tags in names.allSatisfy(tags.contains) } ?? false
            }
        case 3:
            return place.case("numbers.\(use("containsAll"))(\(numbers))", { $0.numbers.containsAll(numbers) }) {
                keeper in
                (keeper?.numbers).map { all in numbers.allSatisfy(all.contains) } ?? false
            }
        case 4:
            return place.case("tags.\(use("containsAny"))(\(names))", { $0.tags.containsAny(names) }) { keeper in
                (keeper?.tags).map { tags in names.contains(where: tags.contains) } ?? false
            }
        case 5:
            return place.case("numbers.\(use("containsAny"))(\(numbers))", { $0.numbers.containsAny(numbers) }) {
                keeper in
                (keeper?.numbers).map { all in numbers.contains(where: all.contains) } ?? false
            }
        default: return search(place)
        }
    }

    /// JSON documents and their parts.
    mutating func document<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedCase<Root> {
        if random.once(in: 2) {
            let part = OperatorWorld.document(&random)
            return place.case("info.\(use("contains document"))(\(part))", { $0.info.contains(part) }) { keeper in
                guard let whole = JSONTree(keeper?.info), let part = JSONTree(part) else { return false }
                // An array contains single values, but only as a whole document.
                if case .array(let elements) = whole, elements.contains(part), part.isSingle { return true }
                return whole.contains(part)
            }
        }
        let number = place.term(use("json number"), { $0.info.number("n") }, { JSONTree($0.info)?["n"]?.number })
        let inner = other.term(use("json number"), { $0.notes.number("in", "n") }) {
            JSONTree($0.notes)?["in"]?["n"]?.number
        }
        let result = calculation(number, inner, .init(), OperatorWorld.prices, divisors: [1, 2, -4], " numeric")
        return compare(result, inner, OperatorWorld.prices, <)
    }
}

/// A JSON document as the server sees it.
indirect enum JSONTree: Decodable, Equatable {
    case null, bool(Bool), number(Decimal), string(String), array([JSONTree]), object([String: JSONTree])

    init?(_ json: PostgresJSON?) {
        guard let json, let tree = try? json.decode(JSONTree.self) else { return nil }
        self = tree
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }

    subscript(key: String) -> JSONTree? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// The result of `#>>` for a single value.
    var text: String? {
        switch self {
        case .string(let text): text
        case .number(let number): "\(number)"
        case .bool(let value): "\(value)"
        case .null, .array, .object: nil
        }
    }

    var isSingle: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }

    var number: PostgresNumeric? {
        if case .number(let number) = self { PostgresNumeric(number) } else { nil }
    }

    /// The result of `@>`.
    func contains(_ part: JSONTree) -> Bool {
        switch (self, part) {
        case (.object(let whole), .object(let part)):
            part.allSatisfy { key, value in whole[key].map { $0.contains(value) } ?? false }
        case (.array(let whole), .array(let part)): part.allSatisfy { value in whole.contains { $0.contains(value) } }
        default: self == part
        }
    }
}
