import KindredPostgres

/// Which object the server refused, as far as its answer tells.
///
/// The server names columns and values in the error's detail: `Key (name)=(Dr) already exists.` for keys,
/// `Failing row contains (1, Dr, null).` for checks. Both are compared with what the objects were going to have; nothing of
/// them is kept.
struct RefusedRow {
    private(set) var object: DatabaseObject?
    private(set) var key: String?

    init(_ error: PostgresError, among objects: [DatabaseObject]) {
        let detail = error.server?.detail ?? ""
        if let end = detail.firstRange(of: ")=("), let start = detail[..<end.lowerBound].lastIndex(of: "(") {
            let names = detail[detail.index(after: start)..<end.lowerBound].split(separator: ", ").map(Self.unquoted)
            if names.count == 1 { key = names[0] }
            let values = detail[end.upperBound...]
            object = Self.only(objects) { object in
                // With the keys of new objects that it refers to.
                let row = (try? SavedObject(object))?.row ?? object.row
                let texts = names.map { name in
                    object.runtime.attributeIndex(of: name).flatMap { row.valueOrRaw(at: $0)?.description }
                }
                guard !texts.contains(nil) else { return false }
                return values.hasPrefix(texts.compactMap { $0 }.joined(separator: ", ") + ")")
            }
        } else if let start = detail.firstIndex(of: "("), let end = detail.lastIndex(of: ")"), start < end {
            let values = detail[detail.index(after: start)..<end].split(
                separator: ", ", omittingEmptySubsequences: false)
            object = Self.only(objects) { object in
                let (row, columns) = object.withState { ($0.row, $0.staging?.columns ?? []) }
                guard values.count == object.entity.attributes.count(where: { !$0.isHidden }) else { return false }
                return columns.allSatisfy { Self.shows(values[$0], row.valueOrRaw(at: $0)?.description ?? "null") }
            }
        }
        if object == nil, objects.count == 1 { object = objects[0] }
    }

    /// Whether the server shows a value like this, of which it prints 64 bytes.
    private static func shows(_ shown: Substring, _ text: String) -> Bool {
        shown == text || text.utf8.count > 64 && shown.hasSuffix("...") && text.hasPrefix(shown.dropLast(3))
    }

    /// The object that fits; of several the last one, since with equal keys the later row is refused.
    private static func only(_ objects: [DatabaseObject], fits: (DatabaseObject) -> Bool) -> DatabaseObject? {
        var found: DatabaseObject?
        for object in objects where fits(object) {
            // Two rows with the same values: the later one was refused.
            found = object
        }
        return found
    }

    static func unquoted(_ name: Substring) -> String {
        guard name.hasPrefix("\""), name.hasSuffix("\""), name.count > 1 else { return String(name) }
        return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }
}
