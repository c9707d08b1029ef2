import KindredSchema
import Testing

@Suite struct QualifiedNameTests {
    /// Names that are easily taken for each other: other lengths, other bytes at each place, other places of the dot.
    private var names: [QualifiedName] {
        var names: [QualifiedName] = []
        for length in 0...40 {
            let zeros = String(repeating: "\0", count: length)
            let letters = String(repeating: "x", count: length)
            names += [zeros, letters].map { QualifiedName(schema: "public", name: $0) }
            for split in 0..<length {
                let (head, tail) = (letters.prefix(split), letters.dropFirst(split))
                names.append(QualifiedName(schema: String(head), name: String(tail)))
                names.append(QualifiedName(schema: "s", name: "\(head)y\(tail)"))
                names.append(QualifiedName(schema: "\(head)y\(tail)", name: "t"))
            }
        }
        for number in 0..<10_000 {
            names.append(QualifiedName(schema: "tenant_\(number)", name: "orders"))
            names.append(QualifiedName(schema: "public", name: "measurements_p\(number)"))
        }
        return names + ["é", "e\u{301}"].map { QualifiedName(schema: "public", name: $0) }
    }

    @Test func differentNamesHaveDifferentHashes() {
        // But for two spellings of one text, which are equal as strings.
        let names = Set(names)
        #expect(Set(names.map(\.hashValue)).count >= names.count - 1)
    }

    @Test func equalNamesHaveTheSameHash() {
        for name in names {
            // Strings with storage of their own, and grown ones.
            let other = QualifiedName(
                schema: String(decoding: Array(name.schema.utf8), as: UTF8.self),
                name: name.name.unicodeScalars.reduce(into: "") { $0.unicodeScalars.append($1) })
            #expect(other == name && other.hashValue == name.hashValue)
        }
        #expect(QualifiedName(schema: "a", name: "é") != QualifiedName(schema: "a", name: "e\u{301}"))
    }
}
