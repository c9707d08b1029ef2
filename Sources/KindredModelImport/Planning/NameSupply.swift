import KindredPostgres

/// Gives names that fit PostgreSQL and that nothing else has.
struct NameSupply {
    private var taken: Set<[UInt8]> = []

    /// Keeps a name from being given.
    mutating func reserve(_ name: String) { taken.insert(Array(name.utf8)) }

    func isTaken(_ name: String) -> Bool { taken.contains(Array(name.utf8)) }

    /// Gives the name, or the nearest one to it: cut to 63 bytes, with a number behind it where it is taken.
    mutating func take(_ name: String) -> String {
        var found = Self.cut(name, "")
        var number = 2
        while taken.contains(Array(found.utf8)) {
            found = Self.cut(name, "_\(number)")
            number += 1
        }
        reserve(found)
        return found
    }

    /// Gives the first of the names that is free.
    mutating func takeFirst(of names: [String]) -> String {
        take(names.first { !isTaken($0) } ?? names.last ?? "column")
    }

    /// The name with a suffix in at most 63 bytes; a cut name gets a hash of the whole, which tells it from other
    /// names.
    private static func cut(_ name: String, _ suffix: String) -> String {
        if name.utf8.count + suffix.utf8.count <= SQLIdentifier.maximumBytes { return name + suffix }
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let tail = "_" + String(hash, radix: 36) + suffix
        var kept = ""
        for character in name {
            guard kept.utf8.count + character.utf8.count + tail.utf8.count <= SQLIdentifier.maximumBytes else { break }
            kept.append(character)
        }
        return kept + tail
    }
}
