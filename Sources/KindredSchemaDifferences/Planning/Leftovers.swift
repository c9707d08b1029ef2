import KindredDDL
import KindredPostgres

/// Triggers and functions that stay as they were and name things that are gone, so that they fail whenever they run.
///
/// The server does not know the names in a trigger's arguments and a function's text, so that no statement fails.
struct Leftovers {
    private let before: SchemaSnapshot
    private let after: SchemaSnapshot
    private let wanted: SchemaSnapshot
    /// The old names of tables that were renamed, by their new names.
    private let oldNames: [ItemName: ItemName]

    /// - Parameters:
    ///   - before: The old side.
    ///   - renamed: The new names of its relations, by their old names.
    ///   - after: The old side after the statements.
    ///   - wanted: The new side.
    init(
        from before: SchemaSnapshot, _ renamed: [ItemName: ItemName], to after: SchemaSnapshot, wanted: SchemaSnapshot
    ) {
        (self.before, self.after, self.wanted) = (before, after, wanted)
        oldNames = Dictionary(renamed.map { ($0.value, $0.key) }) { first, _ in first }
    }

    /// A sentence for each of them.
    var lines: [String] {
        triggers + functions
    }

    // MARK: Triggers

    private var triggers: [String] {
        after.items.keys.filter { $0.kind == .trigger }.sorted().compactMap { trigger in
            guard let definition = after.object(trigger)?.definition.joined() else { return nil }
            let lost = lostColumns(of: trigger)
            if lost.isEmpty { return nil }
            let arguments = definition.split(separator: " EXECUTE ").last ?? ""
            var texts = ""
            for function in after[trigger]?.dependencies ?? [] where function.kind == .function {
                texts += (after.object(function)?.definition ?? []).map { "\n" + $0 }.joined()
            }
            let words = SQLWords(texts)
            let named = lost.sorted().texts.filter { column in
                arguments.contains(DDL.literal(column)) || words.contains(column, behind: ["new", "old"])
            }
            guard !named.isEmpty else { return nil }
            return
                "The \(trigger.described) stays and names \(named.joined(separator: ", ")), which its table has no more, "
                + "so that it fails."
        }
    }

    /// The columns that a trigger's table had and no longer has.
    private func lostColumns(of trigger: ItemName) -> Set<ServerText> {
        let table = trigger.owner()
        let earlier = (oldNames[table] ?? oldNames[trigger.owner(.view)])?.owner() ?? table
        return columns(of: earlier, in: before).subtracting(columns(of: table, in: after))
    }

    /// All columns of a table and of its parents.
    private func columns(of table: ItemName, in side: SchemaSnapshot) -> Set<ServerText> {
        var (seen, waiting): (Set<ItemName>, [ItemName]) = ([table], [table])
        var found: Set<ServerText> = []
        while let next = waiting.popLast() {
            found.formUnion(texts: side.columns(of: next).map(\.part))
            for parent in side.table(next)?.parents ?? [] where seen.insert(parent).inserted { waiting.append(parent) }
        }
        return found
    }

    // MARK: Functions

    /// Functions that the new side does not have in this form, and that name a relation that is gone, or a column that
    /// is gone together with its table's name.
    private var functions: [String] {
        let relations = before.items.keys.filter { ($0.kind == .table || $0.kind == .view) && after[$0] == nil }
        let columns = before.items.keys.filter { $0.kind == .column && after[$0] == nil && after[$0.owner()] != nil }
        if relations.isEmpty && columns.isEmpty { return [] }
        return after.items.keys.filter { $0.kind == .function }.sorted().compactMap { function in
            guard let text = after.object(function)?.definition.joined(),
                wanted[function]?.content != after[function]?.content
            else { return nil }
            let words = SQLWords(text)
            let named =
                relations.filter { words.contains($0.name) }
                + columns.filter { words.contains($0.part) && words.contains($0.name) }
            guard let first = named.min() else { return nil }
            return
                "The \(function.described) stays and seems to name the \(first.described), which is gone, so that it may "
                + "fail."
        }
    }
}

/// The words of a function's text, as far as they may be names.
private struct SQLWords {
    /// As they are written and in small letters, since it does not matter here which of them are in quotes.
    private var words: Set<ServerText> = []
    /// The words that stand behind another word and a dot, by that word in small letters.
    private var qualified: [ServerText: Set<ServerText>] = [:]

    init(_ text: String) {
        var (previous, separator, word) = ("", "", "")
        for character in text + " " {
            if character == "_" || character == "$" || character.isLetter || character.isNumber {
                word.append(character)
                continue
            }
            if !word.isEmpty {
                let both: Set<ServerText> = [ServerText(word), ServerText(word.lowercased())]
                words.formUnion(both)
                if separator == "." { qualified[previous, default: []].formUnion(both) }
                (previous, separator, word) = (word.lowercased(), "", "")
            }
            if !character.isWhitespace, character != "\"" { separator.append(character) }
        }
    }

    func contains(_ name: String) -> Bool { words.contains(name) }

    func contains(_ name: String, behind qualifiers: [String]) -> Bool {
        qualifiers.contains { qualified[$0]?.contains(name) == true }
    }
}
