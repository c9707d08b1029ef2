/// A small generator of random numbers whose seed makes a failure come back (splitmix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension RandomNumberGenerator {
    /// True once in so many times.
    package mutating func once(in times: Int) -> Bool {
        Int.random(in: 0..<times, using: &self) == 0
    }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    /// True so many times in a hundred.
    package mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    /// Some of the elements, in any order, at least one.
    package mutating func some<Element>(_ elements: [Element], atMost limit: Int) -> [Element] {
        let count = Int.random(in: 1...min(limit, elements.count), using: &self)
        return Array(elements.shuffled(using: &self).prefix(count))
    }

    /// A number of up to so many bits, small ones as likely as large ones.
    package mutating func integer<T: FixedWidthInteger>(_ type: T.Type) -> T {
        if once(in: 8) { return pick([0, 1, .max, .min, .max - 1, .min + 1]) }
        let bits = T(truncatingIfNeeded: next())
        return bits >> T(Int.random(in: 0..<T.bitWidth, using: &self))
    }
}
