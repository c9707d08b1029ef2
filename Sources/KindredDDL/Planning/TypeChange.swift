/// The consequences that a change of a column's type has for its table.
package struct TypeChange {
    package let from: ColumnItem
    package let to: ColumnItem
    /// Whether the type's own definition is replaced by another of the same name.
    package var isReplaced = false

    package init(from: ColumnItem, to: ColumnItem, isReplaced: Bool = false) {
        self.from = from
        self.to = to
        self.isReplaced = isReplaced
    }

    /// Whether values can be changed or refused: everything but what is known to keep them.
    package var canLoseData: Bool {
        if isReplaced || from.type == to.type { return false }
        if to.type == "text" || to.type == "character varying" { return false }
        if from.base == to.base {
            let (old, new) = (Self.modifiers(of: from.type), Self.modifiers(of: to.type))
            // Without a modifier everything fits.
            if new.isEmpty && to.base == to.type { return false }
            if old.count == new.count, !old.isEmpty {
                let digits = zip(old, new).allSatisfy { $0 <= $1 }
                // The digits before the point may not become fewer.
                return !digits || (old.count == 2 && new[0] - new[1] < old[0] - old[1])
            }
            return true
        }
        return !Self.widening.contains("\(from.base)>\(to.base)") || !Self.modifiers(of: to.type).isEmpty
    }

    /// Whether the server writes every row anew.
    package var rewrites: Bool {
        if isReplaced { return true }
        if from.type == to.type { return false }
        let texts: Set = ["text", "character varying"]
        if texts.contains(to.type), texts.contains(from.base) { return false }
        if from.base == to.base, from.base == "character varying" || from.base == "numeric" {
            let (old, new) = (Self.modifiers(of: from.type), Self.modifiers(of: to.type))
            if new.isEmpty { return false }
            if old.count == new.count, let before = old.first, let after = new.first {
                return after < before || old.dropFirst() != new.dropFirst()
            }
        }
        return true
    }

    /// How values become those of the new type, where the server does not know it by itself.
    package func conversion(of column: String, casts snapshot: SchemaSnapshot) -> String? {
        if isReplaced { return "\(column)::text::\(to.type)" }
        if from.base == to.base { return nil }
        let (source, target) = (Self.element(from.base), Self.element(to.base))
        let isArray = source != from.base
        if isArray == (target != to.base) {
            if snapshot.assignmentCasts.contains("\(source)>\(target)") { return nil }
            if snapshot.explicitCasts.contains("\(source)>\(target)") { return "\(column)::\(to.type)" }
        }
        return to.isText ? nil : "\(column)::text::\(to.type)"
    }

    private static let widening: Set<String> = [
        "smallint>integer", "smallint>bigint", "smallint>numeric", "integer>bigint", "integer>numeric",
        "bigint>numeric", "real>double precision", "smallint>real", "smallint>double precision",
        "integer>double precision", "date>timestamp without time zone", "character varying>text", "character>text",
        "json>jsonb", "cidr>inet",
    ]

    private static func element(_ type: String) -> String {
        type.hasSuffix("[]") ? String(type.dropLast(2)) : type
    }

    private static let modifiable = [
        "numeric", "character varying", "character", "bit varying", "bit", "timestamp", "time", "interval",
    ]

    /// The numbers in parentheses, for the types that have some.
    private static func modifiers(of type: String) -> [Int] {
        guard modifiable.contains(where: { type.hasPrefix($0 + "(") }), let open = type.firstIndex(of: "("),
            let close = type[open...].firstIndex(of: ")")
        else { return [] }
        return type[type.index(after: open)..<close].split(separator: ",").compactMap { Int($0) }
    }
}
