import Foundation
import Kindred
import Synchronization

/// A JSON value of the oracle's protocol.
enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    subscript(key: String) -> JSON? {
        guard case .object(let members) = self, let member = members[key] else { return nil }
        if case .null = member { return nil }
        return member
    }

    var string: String? { if case .string(let value) = self { value } else { nil } }
    var int: Int? { if case .int(let value) = self { Int(value) } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var array: [JSON] { if case .array(let values) = self { values } else { [] } }
    var members: [String: JSON] { if case .object(let values) = self { values } else { [:] } }
    var strings: [String] { array.compactMap(\.string) }

    /// A column's value: numbers and truth values as such, all else as the server prints it.
    init(_ value: PostgresValue?) {
        switch value {
        case nil: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .int(value)
        case let value?: self = .string(value.description)
        }
    }

    init(_ numbers: [Int]) { self = .array(numbers.map { .int(Int64($0)) }) }
}

extension JSON: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }
}

extension JSON {
    /// Appends the text.
    func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let value): text += String(value)
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (place, value) in values.enumerated() {
                if place > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (place, member) in members.enumerated() {
                if place > 0 { text += "," }
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 32:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// Standard output: a line at a time, whatever task writes it.
enum Output {
    private static let lock = Mutex(())

    static func say(_ event: String, _ facts: [String: JSON]) {
        var text = ""
        JSON.object(facts.merging(["event": .string(event)]) { first, _ in first }).write(to: &text)
        text += "\n"
        lock.withLock { _ in
            FileHandle.standardOutput.write(Data(text.utf8))
        }
    }

    static func log(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
