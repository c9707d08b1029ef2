/// The custom settings that a policy reads as they are, and not by `nullif(current_setting(…, true), '')`.
///
/// A custom setting that was made for a transaction is an empty text in the session afterwards, and not NULL as before.
struct PolicySettings {
    /// Their names, in the text's order.
    let bare: [String]

    /// - Parameter text: the expression, as `pg_get_expr` writes it.
    init(_ text: String) {
        var bare: [String] = []
        // What stands before, without blanks and in capital letters.
        var before = ""
        var rest = Substring(text)
        var isInName = false
        while let first = rest.first {
            if first == "'" || first == "\"" {
                before += PolicyText.quoted(&rest, first)
                isInName = true
            } else if rest.hasPrefix(Self.call), !isInName {
                rest = rest.dropFirst(Self.call.count)
                if let name = Self.literal(rest), name.contains("."), !Self.isInNullif(before),
                    !Self.isComparedWithText(rest)
                {
                    bare.append(name)
                }
                before += Self.call.uppercased()
            } else {
                rest.removeFirst()
                // A function of another name ends alike, or one of this name is in another schema.
                isInName = PolicyText.isPartOfName(first) || first == "." && !before.hasSuffix("PG_CATALOG")
                if !first.isWhitespace { before += first.uppercased() }
            }
        }
        self.bare = bare
    }

    private static let call = "current_setting("

    /// The name that a call gives as a literal.
    private static func literal(_ arguments: Substring) -> String? {
        guard arguments.first == "'" else { return nil }
        return arguments.dropFirst().split(separator: "'", maxSplits: 1, omittingEmptySubsequences: false).first
            .map(String.init)
    }

    /// Whether a call is compared with a text that is not empty, which an empty setting is not equal to.
    private static func isComparedWithText(_ arguments: Substring) -> Bool {
        var rest = Substring("(" + arguments)
        _ = PolicyText.parenthesized(&rest)
        // A subquery gives the call a name.
        if rest.hasPrefix(" AS current_setting)") { rest = rest.dropFirst(" AS current_setting)".count) }
        return rest.hasPrefix(" = '") && !rest.hasPrefix(" = ''")
    }

    /// Whether a call stands first in NULLIF, in a subquery of its own or not.
    private static func isInNullif(_ before: String) -> Bool {
        var before = Substring(before)
        if before.hasSuffix("PG_CATALOG.") { before = before.dropLast("PG_CATALOG.".count) }
        while before.hasSuffix("(SELECT") { before = before.dropLast("(SELECT".count) }
        return before.hasSuffix("NULLIF(")
    }
}
