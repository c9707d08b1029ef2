import KindredPostgres

/// The custom settings that a policy reads as they are, and not by `nullif(current_setting(…, true), '')`.
///
/// A custom setting that was made for a transaction is an empty text in the session afterwards, and not NULL as before.
struct PolicySettings {
    /// The names of these settings, in the text's order.
    let bare: [String]

    /// - Parameter text: the expression, as `pg_get_expr` writes it.
    init(_ text: String) {
        let policy = PolicyTokens(text)
        var bare: [String] = []
        var index = 0
        while index < policy.tokens.count {
            guard let name = policy.name(at: index) else {
                index += 1
                continue
            }
            let start = index
            index = name.end
            guard ["current_setting", "pg_catalog.current_setting"].contains(name.text), policy.isSign("(", at: index),
                policy.tokens.indices.contains(index + 1)
            else { continue }
            let setting = policy.tokens[index + 1]
            if setting.kind == .text, setting.text.contains("."), !Self.isInNullif(start, policy),
                !Self.isComparedWithText(policy.closing(index) + 1, policy)
            {
                bare.append(setting.text)
            }
        }
        self.bare = bare
    }

    /// Whether a call is compared with a text that is not empty, which an empty setting is not equal to.
    private static func isComparedWithText(_ place: Int, _ policy: PolicyTokens) -> Bool {
        var place = place
        // A subquery gives the call a name.
        if policy.isWord("as", at: place), policy.isSign(")", at: place + 2) { place += 3 }
        guard policy.isSign("=", at: place), policy.tokens.indices.contains(place + 1) else { return false }
        let text = policy.tokens[place + 1]
        return text.kind == .text && !text.text.isEmpty
    }

    /// Whether a call stands first in NULLIF, in a subquery of its own or not.
    private static func isInNullif(_ place: Int, _ policy: PolicyTokens) -> Bool {
        var place = place
        while policy.isWord("select", at: place - 1), policy.isSign("(", at: place - 2) { place -= 2 }
        return policy.isSign("(", at: place - 1) && policy.isWord("nullif", at: place - 2)
    }
}
