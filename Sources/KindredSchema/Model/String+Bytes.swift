// PostgreSQL compares identifiers byte by byte, Swift compares strings by canonical equivalence. Order and equality
// of names go through here, so that no two identifiers of the catalog are ever taken for one.
extension String {
    package func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }
        return isSame.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }

    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }

    package func hashBytes(into hasher: inout Hasher) {
        let hashed: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if hashed == nil {
            for byte in utf8 { hasher.combine(byte) }
        }
        hasher.combine(0xFF as UInt8)
    }
}

extension Sequence where Element == String {
    package func sortedByBytes() -> [String] {
        sorted { $0.precedesInBytes($1) }
    }
}
