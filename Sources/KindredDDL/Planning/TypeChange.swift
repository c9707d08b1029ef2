import KindredPostgres

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

    /// Whether values can be changed or refused: true for every change that is not known to keep them.
    package var canLoseData: Bool { outcome != .kept }

    /// The fate of the values.
    package enum Outcome {
        /// Every value is kept.
        case kept
        /// The statement fails if a value does not fit the new type; it changes none.
        case mayFail
        /// Values may be rounded, cut or otherwise changed, or be refused.
        case mayChange
    }

    package var outcome: Outcome {
        if isReplaced || from.type == to.type { return .kept }
        if to.type == "text" || to.type == "character varying" { return .kept }
        let (old, new) = (Self.modifiers(of: from.type), Self.modifiers(of: to.type))
        if from.base == to.base {
            // Without a modifier everything fits.
            if new.isEmpty && to.base == to.type { return .kept }
            if old.count == new.count, !old.isEmpty {
                let digits = zip(old, new).allSatisfy { $0 <= $1 }
                // The digits before the point may not become fewer.
                if digits, old.count != 2 || new[0] - new[1] >= old[0] - old[1] { return .kept }
            }
            return from.isText ? .mayFail : .mayChange
        }
        guard new.isEmpty else { return from.isText && to.isText ? .mayFail : .mayChange }
        if Self.widening.contains("\(from.base)>\(to.base)") { return .kept }
        let isNarrowing = Self.wholeNumbers.contains(from.base) && Self.wholeNumbers.contains(to.base)
        let isRead = from.isText && !Self.floats.contains(to.base)
        return isNarrowing || isRead || isWritten ? .mayFail : .mayChange
    }

    /// The remark for people: when it fails, and whether it changes values.
    package var note: String? {
        if outcome == .mayChange { return "changes values, or fails, where they are none of the new type" }
        return canLoseData || isReplaced ? "fails where a value is none of the new type" : nil
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

    /// The expression that converts values to the new type; nil where the server converts them by itself.
    package func conversion(of column: String, casts snapshot: SchemaSnapshot) -> String? {
        if isReplaced { return "\(column)::text::\(to.type)" }
        if from.base == to.base { return nil }
        if from.base == "boolean", Self.numbers.contains(to.base) { return "\(column)::integer" }
        if Self.numbers.contains(from.base), to.base == "boolean" { return "\(column) <> 0" }
        if isWritten { return "\(column)::text::\(to.type)" }
        // The server assigns any number to any other.
        if Self.numbers.contains(from.base), Self.numbers.contains(to.base) { return nil }
        let (source, target) = (Self.element(from.base), Self.element(to.base))
        let isArray = source != from.base
        if isArray == (target != to.base) {
            if snapshot.assignmentCasts.contains("\(source)>\(target)") { return nil }
            if snapshot.explicitCasts.contains("\(source)>\(target)") { return "\(column)::\(to.type)" }
        }
        return to.isText ? nil : "\(column)::text::\(to.type)"
    }

    /// Whether a way from each value to one of the new type is known without a look at the server's casts.
    package var isKnown: Bool {
        if from.base == to.base { return true }
        let calculated = Self.numbers.union(["boolean"])
        if calculated.contains(from.base), calculated.contains(to.base) { return true }
        let written = calculated.union(["uuid", "timestamp with time zone"])
        return from.base == "text" && written.contains(to.base) || to.base == "text" && written.contains(from.base)
    }

    /// Whether a number goes by its text, which has more digits than the server's cast keeps.
    private var isWritten: Bool {
        to.base == "numeric" && Self.floats.contains(from.base)
    }

    private static let wholeNumbers: Set<ServerText> = ["smallint", "integer", "bigint"]
    private static let floats: Set<ServerText> = ["real", "double precision"]
    private static let numbers = wholeNumbers.union(floats).union(["numeric"])

    private static let widening: Set<ServerText> = [
        "smallint>integer", "smallint>bigint", "smallint>numeric", "integer>bigint", "integer>numeric",
        "bigint>numeric", "real>double precision", "smallint>real", "smallint>double precision",
        "integer>double precision", "date>timestamp without time zone", "character varying>text", "character>text",
        "json>jsonb", "cidr>inet", "boolean>smallint", "boolean>integer", "boolean>bigint", "boolean>numeric",
        "boolean>real", "boolean>double precision",
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
