import Foundation
import Kindred

extension JSON {
    /// An argument of a condition, or a part of a key.
    var argument: (any PropertyValue)? {
        switch self {
        case .null, .object: nil
        case .bool(let value): value
        case .int(let value): value
        // A condition wants a date for a column of dates.
        case .string(let value): Self.date(value) ?? value
        case .array(let values):
            values.contains { $0.string != nil } ? values.compactMap(\.string) : values.compactMap(\.int)
        }
    }

    /// A date such as 1999-12-31.
    private static func date(_ text: String) -> PostgresDate? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard text.utf8.count == 10, parts.count == 3 else { return nil }
        return PostgresDate(text)
    }

    /// The values of a key.
    var key: [any PropertyValue] { array.compactMap(\.argument) }
}

extension ObjectID {
    /// The key as the protocol has it.
    var json: JSON { .array(values.map { JSON($0) }) }

    /// The entity and the key.
    var named: [String: JSON] { ["entity": .string(entity.description), "key": json] }
}

extension DatabaseObject {
    /// Every attribute under its column's name.
    var values: JSON { .object(dictionary.mapValues { JSON($0) }) }

    /// The key and the attributes.
    var json: [String: JSON] { ["key": objectID?.json ?? .null, "values": values] }
}
