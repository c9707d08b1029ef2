import KindredPostgres

/// Makes camel-case Swift names from the database's.
enum SwiftName {
    /// A name for a property or a case: `first_name` gives `firstName`, `CustomerId` gives `customerID`.
    static func lowerCamel(_ name: String, ifEmpty placeholder: String) -> String {
        let words = words(in: name)
        guard let first = words.first else { return placeholder }
        let joined = first.lowercased() + words.dropFirst().map(capitalized).joined()
        return startsWell(joined) ? joined : placeholder + joined.capitalizingFirst
    }

    /// A name for a type: `purchase_line` gives `PurchaseLine`, and in the singular `purchase_lines` too.
    static func upperCamel(_ name: String, ifEmpty placeholder: String, isSingular: Bool = false) -> String {
        var words = words(in: name)
        if isSingular, let last = words.popLast() { words.append(EnglishNoun.singular(last)) }
        let joined = words.map(capitalized).joined()
        if joined.isEmpty { return placeholder }
        return startsWell(joined) ? joined : placeholder + joined
    }

    /// Splits at characters that Swift names cannot have, and at capitals: `HTTPServer_name` is three words.
    static func words(in name: String) -> [String] {
        var words: [[Unicode.Scalar]] = [[]]
        let scalars = Array(name.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            guard scalar != "_", isIdentifierPart(scalar) else {
                words.append([])
                continue
            }
            if scalar.properties.isUppercase, index > 0 {
                let before = scalars[index - 1]
                let isAfterSmall = !before.properties.isUppercase && isIdentifierPart(before)
                let isBeforeSmall = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                if isAfterSmall || (isBeforeSmall && before.properties.isUppercase) { words.append([]) }
            }
            words[words.count - 1].append(scalar)
        }
        return words.filter { !$0.isEmpty }.map { scalars in
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return String(text)
        }
    }

    private static func capitalized(_ word: String) -> String {
        let lower = word.lowercased()
        if ["id", "url", "uri", "uuid"].contains(lower) { return lower.uppercased() }
        return lower.capitalizingFirst
    }

    /// Whether a name can be a property's.
    static func isIdentifier(_ name: String) -> Bool {
        startsWell(name) && name.unicodeScalars.allSatisfy(isIdentifierPart) && name != "_"
    }

    private static func startsWell(_ name: String) -> Bool {
        name.unicodeScalars.first.map(isIdentifierHead) ?? false
    }

    /// Whether a Swift name may begin with the scalar; the ranges are from the language's grammar.
    static func isIdentifierHead(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x80 { return scalar == "_" || scalar.properties.isAlphabetic }
        return isIdentifierPart(scalar) && !isCombining(scalar)
    }

    static func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 0x80 {
            return scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        }
        // The language allows invisible characters, but names with them would look like other names.
        return scalar.properties.generalCategory != .format && ranges.contains { $0.contains(value) }
    }

    private static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        return (0x300...0x36F).contains(value) || (0x1DC0...0x1DFF).contains(value) || (0x20D0...0x20FF).contains(value)
            || (0xFE20...0xFE2F).contains(value)
    }

    // U+FFFC and U+FFFD are in the grammar, and the compiler refuses them.
    private static let ranges: [ClosedRange<UInt32>] = [
        0xA8...0xA8, 0xAA...0xAA, 0xAD...0xAD, 0xAF...0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6,
        0xD8...0xF6, 0xF8...0x167F, 0x1681...0x180D, 0x180F...0x1FFF, 0x200B...0x200D, 0x202A...0x202E, 0x203F...0x2040,
        0x2054...0x2054, 0x2060...0x218F, 0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF,
        0x3004...0x3007, 0x3021...0x302F, 0x3031...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE44,
        0xFE47...0xFFFB, 0x10000...0x1FFFD, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}

extension String {
    fileprivate var capitalizingFirst: String {
        prefix(1).uppercased() + dropFirst()
    }
}
