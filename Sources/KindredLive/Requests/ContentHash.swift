import Kindred
import KindredPostgres

/// SipHash-2-4: hashes that are the same in every process, and that a writer of rows cannot aim at without the seed.
///
/// `Hasher` has another seed in each process.
struct ContentHash {
    private var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)
    /// The bytes of the word that is not full yet.
    private var word: UInt64 = 0
    private var count: UInt64 = 0

    init(seed: UInt64, _ second: UInt64 = 0) {
        (v0, v1) = (seed ^ 0x736f_6d65_7073_6575, second ^ 0x646f_7261_6e64_6f6d)
        (v2, v3) = (seed ^ 0x6c79_6765_6e65_7261, second ^ 0x7465_6462_7974_6573)
    }

    private mutating func mix() {
        func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
        v0 &+= v1
        v2 &+= v3
        v1 = rotated(v1, 13) ^ v0
        v3 = rotated(v3, 16) ^ v2
        v0 = rotated(v0, 32)
        v2 &+= v1
        v0 &+= v3
        v1 = rotated(v1, 17) ^ v2
        v3 = rotated(v3, 21) ^ v0
        v2 = rotated(v2, 32)
    }

    private mutating func add(_ word: UInt64) {
        v3 ^= word
        mix()
        mix()
        v0 ^= word
    }

    mutating func combine(_ byte: UInt8) {
        word |= UInt64(byte) << (8 * (count & 7))
        count &+= 1
        guard count & 7 == 0 else { return }
        add(word)
        word = 0
    }

    mutating func combine(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    mutating func combine(_ number: Int) { combine(UInt64(bitPattern: Int64(number))) }

    /// Adds bytes behind their number, so that no two lists of texts look alike.
    mutating func combine(_ bytes: some Collection<UInt8>) {
        combine(bytes.count)
        for byte in bytes { combine(byte) }
    }

    mutating func combine(_ text: String) { combine(text.utf8) }

    /// The hash of all that was added.
    var value: UInt64 {
        var end = self
        end.add(word | count << 56)
        end.v2 ^= 0xFF
        for _ in 0..<4 { end.mix() }
        return end.v0 ^ end.v1 ^ end.v2 ^ end.v3
    }
}

extension ContentHash {
    mutating func combine(_ statement: (text: String, values: Bindings)) {
        combine(statement.text)
        combine(statement.values.bytes)
        for slot in statement.values.slots {
            combine(Int(slot.type.rawValue))
            combine(slot.offset)
            combine(slot.length)
        }
    }

    mutating func combine(_ key: ObjectKey) {
        for value in key.values { combine(value.description) }
    }

    /// Adds the values of a row; columns that are left out count as NULL.
    mutating func combine(_ row: Row) {
        for column in 0..<row.count {
            if row.withBytes(at: column, { combine($0) }) == nil { combine(-1) }
        }
    }
}
