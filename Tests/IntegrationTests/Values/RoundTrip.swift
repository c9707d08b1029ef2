import Foundation
import Kindred
import TestSupport
import Testing

/// Sends random values of one type to a server and compares the values that come back, in both formats.
struct RoundTrip {
    let client: PostgresClient
    /// The type's name in SQL.
    let name: String
    let type: PostgresDataType
    /// Whether the server prints each value exactly as the library does.
    var hasSameText = true
    /// Whether `unnest` would take the values apart.
    var isComposite = false
    let make: (inout SeededGenerator) throws -> PostgresValue

    /// How many values of each type go through the server, chosen by `KINDRED_ROUND_TRIPS`.
    static let count = TestAmount.number("KINDRED_ROUND_TRIPS") ?? TestAmount.of(100, full: 500)

    private static let batch = 1_000

    /// Sends values many at a time: as an array in binary form and as one in text form.
    ///
    /// The server's text for a value in binary form has to read as the same value, so that a writer and a reader that
    /// are wrong in the same way are found.
    func run(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var rest = Self.count
        while rest > 0 {
            let values = try (0..<min(rest, Self.batch)).map { _ in try make(&generator) }
            rest -= values.count
            for format in [PostgresFormat.binary, .text] {
                guard try await matches(values, format) else { return }
            }
        }
    }

    private func matches(_ values: [PostgresValue], _ format: PostgresFormat) async throws -> Bool {
        let array = PostgresArray(elementType: type, elements: values)
        var bindings = Bindings()
        try bindings.appendArray(values, of: type, as: try await arrayType, types: client.types)
        try bindings.append(.string(array.description), as: nil)
        let text = StatementText(
            isComposite
                ? """
                SELECT a[i], format('%s', a[i]), t[i]
                FROM (SELECT $1::\(name)[] AS a, $2::\(name)[] AS t) AS u, generate_series(1, \(values.count)) AS i
                """
                : """
                SELECT b, format('%s', b), t FROM unnest($1::\(name)[], $2::\(name)[]) WITH ORDINALITY AS u(b, t, place)
                ORDER BY place
                """)
        let result = try await client.execute(Statement(text: text, bindings: bindings, resultFormat: format))
        try #require(result.count == values.count)
        for (row, value) in zip(result, values) {
            let printed = try row.decode(1, as: String.self) ?? "NULL"
            guard try row[0] == value, try row[2] == value, try read(printed) == value,
                !hasSameText || printed == value.description
            else {
                Issue.record("\(name), \(format): \(value) came back as \(row.debugDescription)")
                return false
            }
        }
        return true
    }

    private func read(_ text: String) throws -> PostgresValue {
        try text.withBytes {
            try Codec.decode($0, type: type, format: .text, types: client.types)
        }
    }

    /// Sends arrays of any dimensions, with NULLs in them.
    func runArrays(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let text = StatementText("SELECT $1::\(name)[], $2::\(name)[]")
        for _ in 0..<max(1, min(Self.count, 10_000) / 20) {
            let array = try RandomValue.array(of: type, &generator, make)
            for format in [PostgresFormat.binary, .text] {
                var bindings = Bindings()
                try bindings.append(.array(array), as: try await arrayType, types: client.types)
                try bindings.append(.string(array.description), as: nil)
                let result = try await client.execute(Statement(text: text, bindings: bindings, resultFormat: format))
                guard try result[0][0] == .array(array), try result[0][1] == .array(array) else {
                    Issue.record("\(name)[], \(format): \(array) came back as \(result[0].debugDescription)")
                    return
                }
            }
        }
    }

    private var arrayType: PostgresDataType {
        get async throws {
            if let type = type.arrayType { return type }
            let row = try await client.query("SELECT typarray::int8 FROM pg_type WHERE oid = \(type.rawValue)::oid")
            let oid = try #require(try row[0].decode(0, as: UInt32.self))
            return PostgresDataType(rawValue: oid)
        }
    }
}
