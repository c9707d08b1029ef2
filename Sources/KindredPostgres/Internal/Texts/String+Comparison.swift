// PostgreSQL compares texts by their bytes, Swift's strings are equal by canonical equivalence: a composed and a
// decomposed "é" are two texts for PostgreSQL and one for Swift. Two schemas, tenants or settings taken for one would
// show the rows of one to the other.
//
// So these operators stand in place of the standard library's, in each file of the package that imports this module:
// `==` and `<` over strings compare bytes, and so do operators that the compiler derives from them, such as `Equatable`
// of structs. The compiler prefers a module's declaration to the standard library's with the same types.
// `SourceRulesTests` wants the import in each file that compares, and refuses dictionaries and sets of strings, whose
// keys are compared by the standard library's operators: their keys are `ServerText`.
extension String {
    /// Whether the strings have the same bytes.
    package static func == (left: String, right: String) -> Bool {
        // Most strings that differ have different lengths, which are known without looking at bytes.
        left.utf8.count == right.utf8.count && left.withBytes { left in right.withBytes { left.isEqual(to: $0) } }
    }

    /// Whether the strings have different bytes.
    package static func != (left: String, right: String) -> Bool { !(left == right) }

    /// Whether a case of a `switch` has the bytes of its value.
    package static func ~= (pattern: String, value: String) -> Bool { pattern == value }

    /// Orders by bytes.
    package static func < (left: String, right: String) -> Bool {
        left.withBytes { left in right.withBytes { left.precedes($0) } }
    }

    /// Orders by bytes.
    package static func > (left: String, right: String) -> Bool { right < left }

    /// With small letters in place of A to Z, and nothing else changed: so the server folds names of settings, and names without
    /// quotes.
    package var foldedName: String {
        utf8.contains { $0 >= 0x41 && $0 <= 0x5a }
            ? String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }, as: UTF8.self) : self
    }

    /// Whether the bytes begin with another string's bytes.
    package func hasPrefix(_ prefix: String) -> Bool {
        withBytes { bytes in
            prefix.withBytes { $0.count <= bytes.count && bytes.part(0..<$0.count).isEqual(to: $0) }
        }
    }

    /// Whether the bytes end with another string's bytes.
    package func hasSuffix(_ suffix: String) -> Bool {
        withBytes { bytes in
            suffix.withBytes {
                $0.count <= bytes.count && bytes.part((bytes.count - $0.count)..<bytes.count).isEqual(to: $0)
            }
        }
    }
}

// For optional values the compiler prefers these operators to the standard library's, since they are not generic; it
// does not do so beside a literal, which is ASCII in the sources.

/// Whether both are nil, or have the same bytes.
package func == (left: String?, right: String?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left == right
    case (nil, nil): true
    default: false
    }
}

/// Whether one of both is nil, or their bytes differ.
package func != (left: String?, right: String?) -> Bool { !(left == right) }

/// Whether both are nil, or have strings with the same bytes.
package func == (left: [String]?, right: [String]?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left == right
    case (nil, nil): true
    default: false
    }
}

/// Whether one of both is nil, or any strings differ in their bytes.
package func != (left: [String]?, right: [String]?) -> Bool { !(left == right) }

extension Array where Element == String {
    /// Whether the arrays have strings with the same bytes.
    package static func == (left: [String], right: [String]) -> Bool { left.elementsEqual(right) }

    /// Whether any strings differ in their bytes.
    package static func != (left: [String], right: [String]) -> Bool { !(left == right) }

    /// Sorts by bytes.
    package mutating func sort() { sort { $0 < $1 } }
}

extension Array where Element == [String] {
    /// Whether the arrays have lists of strings with the same bytes.
    package static func == (left: [[String]], right: [[String]]) -> Bool { left.elementsEqual(right) { $0 == $1 } }

    /// Whether any strings differ in their bytes.
    package static func != (left: [[String]], right: [[String]]) -> Bool { !(left == right) }
}

extension Sequence where Element == String {
    /// Whether a string is among them, by its bytes.
    package func contains(_ element: String) -> Bool { contains { $0 == element } }

    /// The strings in the order of their bytes.
    package func sorted() -> [String] { sorted { $0 < $1 } }

    /// Whether both have strings with the same bytes in the same order.
    package func elementsEqual(_ other: some Sequence<String>) -> Bool { elementsEqual(other) { $0 == $1 } }

    /// Whether they begin with strings of the same bytes.
    package func starts(with other: some Sequence<String>) -> Bool { starts(with: other) { $0 == $1 } }
}

extension Collection where Element == String {
    /// The first place of a string, by its bytes.
    package func firstIndex(of element: String) -> Index? { firstIndex { $0 == element } }
}
