import KindredPostgres

/// The text that columns, objects and conditions of a builder have: it is no value, and is refused where it is bound as one.
///
/// It is looked for in values of builders alone, and its number differs in each process, so that no text of a client is
/// taken for it.
enum ColumnMark {
    static let text = "a column of a query, which has no value here (#\(String(decoding: digits, as: UTF8.self)))"

    private static let size = 19
    private static let digits = Array(
        "\(UInt64.random(in: 1_000_000_000_000_000_000..<10_000_000_000_000_000_000))".utf8)

    /// Throws for a value that holds the text of a column.
    static func refuse(in value: PostgresValue?) throws(KindredError) {
        if let value, isIn(value) { throw refusal }
    }

    /// Throws for content that holds the text of a column.
    static func refuse(in content: DatabaseObject.PropertyContent) throws(KindredError) {
        switch content {
        case .value(let value): try refuse(in: value)
        case .collection(let contents): for content in contents { try refuse(in: content) }
        case .object, .objectID, .set: break
        }
    }

    /// Whether texts hold the text of a column.
    static func isIn(_ texts: [String]) -> Bool { texts.contains { isIn($0.utf8) } }

    static var refusal: KindredError {
        KindredError(
            .wrongType,
            """
            A column was made into a text, which says nothing of its value: only the database knows that. Write + to join texts, \
            and ?? for a value in place of NULL
            """)
    }

    private static func isIn(_ value: PostgresValue) -> Bool {
        switch value {
        case .string(let text): isIn(text.utf8)
        case .bytes(let bytes): isIn(bytes)
        case .json, .hstore, .composite, .range, .multirange, .array, .tsVector, .tsQuery, .other:
            isIn(value.description.utf8)
        default: false
        }
    }

    private static func isIn(_ bytes: some Collection<UInt8>) -> Bool {
        guard bytes.count >= size else { return false }
        var rest = bytes[...]
        while let start = rest.firstIndex(of: digits[0]) {
            rest = rest[start...]
            if rest.starts(with: digits) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
