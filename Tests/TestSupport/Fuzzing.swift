/// How much random input tests make.
package enum Fuzzing {
    /// Some thousands, or what the environment variable `KINDRED_FUZZ` says.
    package static let count = TestAmount.number("KINDRED_FUZZ") ?? TestAmount.of(3_000, full: 30_000)
}

extension RandomNumberGenerator {
    /// The bytes with some of them changed, removed, inserted or repeated.
    package mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...3, using: &self) {
            guard !bytes.isEmpty else { return bytes }
            let position = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0...5, using: &self) {
            case 0: bytes[position] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes[position] ^= 1 << UInt8.random(in: 0...7, using: &self)
            case 2: bytes.remove(at: position)
            case 3:
                bytes.insert(pick(Array("0-:{}\",\\ +.eE\u{0}'()[]<>!&|@?=%/".utf8) + [0xFF, 0x80]), at: position)
            case 4: bytes[position] = pick([0, 1, 0x7F, 0x80, 0xFF])
            default: bytes += bytes[position...].prefix(200)
            }
        }
        return bytes
    }
}
