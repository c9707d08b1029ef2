import KindredPostgres

extension SchemaBuilder {
    /// Assigns the names of one table's relationships.
    func settleNames(of table: Int) {
        let places = tables[table].ends
        let settlement = NameSettlement(
            candidates: places.map { ends[$0].candidates },
            phases: places.map { ends[$0].viewCount },
            attributes: tables[table].attributeIndexes
        )
        for (index, place) in places.enumerated() {
            let end = ends[place]
            end.outcomes = settlement.outcomes[index]
            chooseName(of: end)
            for (candidate, outcome) in zip(end.candidates, end.outcomes)
            where candidate.rule == .annotation && !candidate.givesWay && !candidate.isOfOtherOwner {
                reportClash(of: candidate, at: place, outcome: outcome, among: places)
            }
        }
    }

    /// The order of the rules in the choice of the primary name.
    private struct Preference {
        var rule: NameExplanation.Rule
        /// Whether to skip names that look machine-made.
        var isPicky = false

        static let holder = [
            Preference(rule: .annotation), Preference(rule: .pair), Preference(rule: .constraintName, isPicky: true),
            Preference(rule: .columnName), Preference(rule: .tableName), Preference(rule: .constraintName),
            Preference(rule: .generated),
        ]
        static let holderTowardsView = [
            Preference(rule: .tableName), Preference(rule: .columnName), Preference(rule: .generated),
        ]
        static let target = [
            Preference(rule: .annotation), Preference(rule: .pair), Preference(rule: .tableName),
            Preference(rule: .columnName), Preference(rule: .generated),
        ]
        static let helper = [
            Preference(rule: .annotation), Preference(rule: .constraintName, isPicky: true),
            Preference(rule: .tableName), Preference(rule: .columnName), Preference(rule: .constraintName),
            Preference(rule: .generated),
        ]
    }

    /// Chooses an end's primary name among those assigned to it; the other names become aliases.
    private func chooseName(of end: RelationshipEnd) {
        let preferences: [Preference]
        // The key whose constraint may name the end.
        let key: ForeignKey
        switch end.role {
        case .holder(let place):
            key = keys[place]
            preferences = end.destination == key.destination ? Preference.holder : Preference.holderTowardsView
        case .target(let place): (preferences, key) = (Preference.target, keys[place])
        case .helper(let pair, let isFirst):
            (preferences, key) = (Preference.helper, keys[isFirst ? helpers[pair].first : helpers[pair].second])
        }
        let holder = tables[key.source].name.name
        var chosen: Int?
        search: for preference in preferences {
            for (place, candidate) in end.candidates.enumerated() where candidate.rule == preference.rule {
                guard case .given(let name) = end.outcomes[place] else { continue }
                if preference.isPicky, MachineMadeName.matches(name, of: holder, columns: key.columnNames) { continue }
                chosen = place
                end.name = name
                break search
            }
        }
        var aliases: [String] = []
        for (place, outcome) in end.outcomes.enumerated() where place != chosen {
            if case .given(let name) = outcome, name != end.name, !aliases.contains(name) { aliases.append(name) }
        }
        if aliases.count > 1 { aliases.sort() }
        end.aliases = aliases
    }

    /// Reports an annotation whose name was not assigned.
    private func reportClash(
        of candidate: Candidate,
        at place: Int,
        outcome: NameSettlement.Outcome,
        among places: [Int]
    ) {
        let source = tables[ends[place].source].name
        let reason: String
        switch outcome {
        case .given: return
        case .attribute: reason = "\(source) has an attribute of this name"
        case .taken(let other), .reserved(let other):
            reason = "another relationship of \(source) has this name: \(describe(places[other]))"
        case .contested(let others):
            let list = others.prefix(8).map { describe(places[$0]) }.joined(separator: ", ")
            reason = "another relationship of \(source) claims this name: \(list)"
        }
        report(
            "\"\(candidate.name)\" clashes: \(reason)", of: ends[place].source,
            at: location(of: candidate.name, ends[place]))
    }

    private func location(of name: String, _ end: RelationshipEnd) -> String {
        let written: [KeyAnnotation.Name]
        switch end.role {
        case .holder(let key): written = keys[key].annotation.names
        case .target(let key): written = keys[key].annotation.inverses
        case .helper(let pair, let isFirst):
            written = keys[isFirst ? helpers[pair].first : helpers[pair].second].annotation.manyToMany
        }
        return written.first { $0.name == name }?.location ?? ""
    }

    /// Describes an end by its foreign key or helper.
    private func describe(_ place: Int) -> String {
        switch ends[place].role {
        case .holder(let key), .target(let key):
            "that of the foreign key \(keys[key].name) of \(tables[keys[key].source].name)"
        case .helper(let pair, _): "that over the helper \(tables[helpers[pair].table].name)"
        }
    }

    /// The outcomes of an end's candidates, for people.
    func explanation(of place: Int) -> [NameExplanation] {
        let end = ends[place]
        let places = tables[end.source].ends
        return zip(end.candidates, end.outcomes).map { candidate, outcome in
            switch outcome {
            case .given(let name): NameExplanation(name: name, rule: candidate.rule, outcome: .given)
            case .attribute: NameExplanation(name: candidate.name, rule: candidate.rule, outcome: .attribute)
            case .taken(let other):
                NameExplanation(
                    name: candidate.name,
                    rule: candidate.rule,
                    outcome: .taken(by: ends[places[other]].name)
                )
            case .reserved(let other):
                NameExplanation(
                    name: candidate.name,
                    rule: candidate.rule,
                    outcome: .reserved(for: ends[places[other]].name)
                )
            case .contested(let others):
                NameExplanation(
                    name: candidate.name,
                    rule: candidate.rule,
                    outcome: .contested(with: others.prefix(8).map { ends[places[$0]].name }.sorted())
                )
            }
        }
    }
}
