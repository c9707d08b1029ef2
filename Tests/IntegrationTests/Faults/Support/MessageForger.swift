import Synchronization
import TestSupport

/// Changes the messages of a server on their way to the client.
final class MessageForger: Sendable {
    /// The bytes sent in place of a message; none drops it.
    typealias Change = @Sendable (_ message: [UInt8], _ random: inout SeededGenerator) -> [UInt8]

    private struct State {
        var random: SeededGenerator
        var count = 0
    }

    private let state: Mutex<State>
    private let change: Change

    init(seed: UInt64, _ change: @escaping Change) {
        state = Mutex(State(random: SeededGenerator(seed: seed)))
        self.change = change
    }

    /// How many messages it has changed.
    var count: Int { state.withLock(\.count) }

    /// Changes the whole messages at the beginning of the bytes.
    func forge(_ bytes: [UInt8]) -> [UInt8] {
        var (result, position) = ([UInt8](), 0)
        while position + 5 <= bytes.count {
            let end = position + 1 + Self.length(bytes[(position + 1)...])
            guard end > position + 4, end <= bytes.count else { break }
            let message = Array(bytes[position..<end])
            result += state.withLock { state in
                let changed = change(message, &state.random)
                if changed != message { state.count += 1 }
                return changed
            }
            position = end
        }
        return result + bytes[position...]
    }

    /// The values of a row's message.
    static func values(of message: [UInt8]) -> [[UInt8]?] {
        var (values, position) = ([[UInt8]?](), 7)
        while position + 4 <= message.count {
            let length = length(message[position...])
            position += 4
            guard length <= message.count - position else { break }
            values.append(length < 0 ? nil : Array(message[position..<position + length]))
            position += max(0, length)
        }
        return values
    }

    /// The message of a row with such values.
    static func row(_ values: [[UInt8]?]) -> [UInt8] {
        let content = values.flatMap { bytes($0?.count ?? -1) + ($0 ?? []) }
        return message("D", [UInt8(values.count >> 8), UInt8(values.count & 255)] + content)
    }

    static func message(_ type: Unicode.Scalar, _ content: [UInt8]) -> [UInt8] {
        [UInt8(ascii: type)] + bytes(content.count + 4) + content
    }

    /// A value with something wrong, or NULL.
    static func damaged(_ value: [UInt8], _ random: inout SeededGenerator) -> [UInt8]? {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: nil
        case 1: (0..<Int.random(in: 0...20, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        default: random.damaged(value)
        }
    }

    private static func length(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(Int32(bitPattern: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }))
    }

    private static func bytes(_ length: Int) -> [UInt8] {
        withUnsafeBytes(of: Int32(length).bigEndian, Array.init)
    }
}
