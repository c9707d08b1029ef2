import KindredPostgres

extension SchemaBuilder {
    /// Two foreign keys that make their table a helper.
    struct HelperPair {
        /// The index of the helper table.
        let table: Int
        /// The indexes of the two keys, in the order of their names.
        let first: Int
        let second: Int
    }

    /// Finds the helper tables.
    func makeHelpers() {
        for index in tables.indices where !tables[index].isIgnored {
            let written = annotations.tables[tables[index].relation.oid]
            let choice = written?.options.manyToMany
            let pairs = choice == .noHelper ? [] : fittingPairs(of: index)
            if case .pair(let left, let right)? = choice {
                let chosen = pairs.filter { pair in
                    let (first, second) = (keys[pair.first].names, keys[pair.second].names)
                    return first.contains(left) && second.contains(right)
                        || first.contains(right) && second.contains(left)
                }
                helpers += chosen
                if chosen.isEmpty {
                    let reason = "\(left) and \(right) do not make the table a helper"
                    report("\"manyToMany\" names no pair: \(reason)", of: index, at: written?.location ?? "")
                }
            } else if pairs.count == 1 {
                helpers += pairs
            } else if !pairs.isEmpty {
                diagnoseAmbiguity(index, pairs)
            }
        }
    }

    /// The pairs of a table's foreign keys whose columns together are its key.
    private func fittingPairs(of index: Int) -> [HelperPair] {
        let table = tables[index]
        // A table that refers to itself is an end, not a helper.
        let candidates = table.foreignKeys.filter { !keys[$0].isSelfReference }
        guard candidates.count > 1 else { return [] }
        let primaryKey = table.primaryKey
        let uniqueKeys = table.identifyingKeys.filter { !$0.hasPeriod }
        if primaryKey == nil && uniqueKeys.isEmpty { return [] }
        var pairs: [HelperPair] = []
        for (place, first) in candidates.enumerated() {
            for second in candidates[(place + 1)...] {
                let (left, right) = (keys[first].columns, keys[second].columns)
                guard left.contains(where: { !right.contains($0) }), right.contains(where: { !left.contains($0) })
                else { continue }
                let together = (left + right.filter { !left.contains($0) }).sorted()
                if let primaryKey, !primaryKey.hasPeriod, primaryKey.columns == together {
                    pairs.append(HelperPair(table: index, first: first, second: second))
                } else if uniqueKeys.contains(where: { $0.columns == together }),
                    !(primaryKey?.columns.allSatisfy { together.contains($0) } ?? false)
                {
                    // The primary key, if any, has a column outside of both keys: a surrogate.
                    pairs.append(HelperPair(table: index, first: first, second: second))
                }
            }
        }
        return pairs
    }

    private func diagnoseAmbiguity(_ index: Int, _ pairs: [HelperPair]) {
        let table = tables[index].name
        let names = pairs.map { "\(keys[$0.first].name) with \(keys[$0.second].name)" }
        diagnostics.append(
            SchemaDiagnostic(
                .ambiguousHelper,
                entity: table,
                constraints: Set(texts: pairs.flatMap { [keys[$0.first].name, keys[$0.second].name] }).sorted().map(
                    \.text),
                message: "\(table) makes no many-to-many relationship, as several pairs of its foreign keys qualify: "
                    + "\(names.joined(separator: ", ")); an annotation "
                    + "@kindred {\"manyToMany\": [\"...\", \"...\"]} on the table chooses one"
            )
        )
    }

    /// The columns outside both keys that need a value in a new row of the helper.
    func requiredPayload(of pair: HelperPair) -> [String] {
        columnsBeside(pair) { !$1.hasDefault && $1.isNotNull }
    }

    /// The payload: columns outside both keys that say more than that the pair exists, its age, and its place.
    func payload(of pair: HelperPair) -> [String] {
        let table = tables[pair.table]
        let surrogate = table.primaryKey?.columns ?? []
        var others = [keys[pair.first], keys[pair.second]].compactMap { $0.annotation.orderedBy?.value }
        others += versionColumns(of: pair.table).map(\.name)
        let options = annotations.tables[table.relation.oid]?.options
        others += [options?.softDelete].compactMap(\.self) + (options?.filter?.words ?? [])
        return columnsBeside(pair) { column, attribute in
            !surrogate.contains(column.number) && attribute.identity == .none && !column.hasInsertTime
                && !others.contains(column.name)
        }
    }

    /// The helper's columns outside both keys that can be written, as far as they are wanted.
    private func columnsBeside(_ pair: HelperPair, where isWanted: (Catalog.Column, Attribute) -> Bool) -> [String] {
        let (left, right) = (keys[pair.first].columns, keys[pair.second].columns)
        let table = tables[pair.table]
        return table.attributes.indices.compactMap { place in
            let (column, attribute) = (table.columns[place], table.attributes[place])
            guard !attribute.isGenerated, !left.contains(column.number), !right.contains(column.number),
                isWanted(column, attribute)
            else { return nil }
            return column.name
        }
    }

    /// The delete rule of a many-to-many relationship; the helper's key `near` refers to the deleted object.
    func deleteRule(of pair: HelperPair, near: ForeignKey) -> DeleteRule {
        payload(of: pair).isEmpty ? ruleWithoutPayload(near: near) : ruleWithPayload(near: near)
    }

    /// The delete rule where the helper's rows are no more than pairs: they go.
    func ruleWithoutPayload(near: ForeignKey) -> DeleteRule {
        if let written = near.annotation.manyToManyDeleteRule { return written.value }
        return (near.annotation.deleteRule?.value ?? near.deleteRule) == .deny ? .deny : .nullify
    }

    /// The delete rule where the helper's rows say more: their constraint decides.
    private func ruleWithPayload(near: ForeignKey) -> DeleteRule {
        if let written = near.annotation.manyToManyDeleteRule { return written.value }
        return switch near.annotation.deleteRule?.value ?? near.deleteRule {
        case .deny: .deny
        case .cascade: .nullify
        case .nullify, .noAction: .noAction
        }
    }
}

extension String {
    /// The names in a condition's text, outside of its texts.
    fileprivate var words: [String] {
        var words: [String] = []
        var quote: Character?
        var word = ""
        for character in self + " " {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "_" || character.isLetter || character.isNumber {
                word.append(character)
                continue
            }
            if !word.isEmpty { words.append(word) }
            word = ""
        }
        return words
    }
}
