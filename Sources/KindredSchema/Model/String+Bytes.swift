// PostgreSQL compares identifiers byte by byte, Swift compares strings by canonical equivalence. Names are compared by
// their bytes everywhere, so that no two identifiers of the catalog are ever taken for one.
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
