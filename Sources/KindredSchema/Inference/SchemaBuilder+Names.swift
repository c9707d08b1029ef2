extension SchemaBuilder {
    /// Settles the names of one table's relationships.
    mutating func settleNames(of table: Int) {
        let places = tables[table].ends
        let settlement = NameSettlement(
            candidates: places.map { ends[$0].candidates },
            attributes: Set(tables[table].columns.lazy.map(\.name))
        )
        for (index, place) in places.enumerated() {
            ends[place].outcomes = settlement.outcomes[index]
            chooseName(of: place)
            for (candidate, outcome) in zip(ends[place].candidates, ends[place].outcomes)
            where candidate.rule == .annotation && !candidate.isTentative {
                reportClash(place, candidate, outcome, places)
            }
        }
    }

    /// Chooses, among the names that an end was given, the one that reads best.
    private mutating func chooseName(of place: Int) {
        let end = ends[place]
        var given: [(name: String, candidate: Candidate)] = []
        for (candidate, outcome) in zip(end.candidates, end.outcomes) {
            if case .given(let name) = outcome { given.append((name, candidate)) }
        }
        let order: [(NameExplanation.Rule, skipsMachineMade: Bool)]
        let constraintTable: String
        switch end.role {
        case .holder(let key):
            order = [
                (.annotation, false), (.pair, false), (.constraintName, true), (.columnName, false),
                (.tableName, false), (.constraintName, false), (.generated, false),
            ]
            constraintTable = tables[keys[key].source].name.name
        case .target(let key):
            order = [
                (.annotation, false), (.pair, false), (.tableName, false), (.columnName, false), (.generated, false),
            ]
            constraintTable = tables[keys[key].source].name.name
        case .helper(let pair, _):
            order = [
                (.annotation, false), (.constraintName, true), (.tableName, false), (.columnName, false),
                (.constraintName, false), (.generated, false),
            ]
            constraintTable = tables[helpers[pair].table].name.name
        }
        for (rule, skipsMachineMade) in order {
            let best = given.first { name, candidate in
                candidate.rule == rule
                    && !(skipsMachineMade && MachineMadeName.matches(candidate.name, of: constraintTable))
            }
            if let best {
                ends[place].name = best.name
                break
            }
        }
        ends[place].aliases = Set(given.map(\.name)).subtracting([ends[place].name]).sortedByBytes()
    }

    /// Reports an annotation whose name was not given.
    private mutating func reportClash(
        _ place: Int,
        _ candidate: Candidate,
        _ outcome: NameSettlement.Outcome,
        _ places: [Int]
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
            reason = "another relationship of \(source) is given this name: \(list)"
        }
        report(
            ends[place].source, location(of: candidate.name, ends[place]), "\"\(candidate.name)\" clashes: \(reason)")
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

    /// Names an end by what makes it.
    private func describe(_ place: Int) -> String {
        switch ends[place].role {
        case .holder(let key), .target(let key):
            "that of the foreign key \(keys[key].name) of \(tables[keys[key].source].name)"
        case .helper(let pair, _): "that over the helper \(tables[helpers[pair].table].name)"
        }
    }

    /// What became of an end's candidates, for people.
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
                    outcome: .contested(with: others.prefix(8).map { ends[places[$0]].name }.sortedByBytes())
                )
            }
        }
    }
}
