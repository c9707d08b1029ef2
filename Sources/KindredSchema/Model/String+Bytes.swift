// PostgreSQL compares identifiers byte by byte, Swift compares strings by canonical equivalence. Names are always compared
// by their bytes, so that two identifiers of the catalog are never treated as one.
extension String {
    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension Sequence where Element == String {
    package func sortedByBytes() -> [String] {
        sorted { $0.precedesInBytes($1) }
    }
}
