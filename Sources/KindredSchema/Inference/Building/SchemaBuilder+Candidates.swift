import KindredPostgres

extension SchemaBuilder {
    typealias Candidate = NameSettlement.Candidate

    /// The candidates of an end whose source holds the key.
    ///
    /// The relationships of tables, not of views, get the names that are annotated or follow from the constraint.
    func holderCandidates(_ end: RelationshipEnd, _ key: ForeignKey) -> [Candidate] {
        var found: [Candidate] = []
        found.reserveCapacity(5)
        if end.viewCount == 0 {
            found += key.annotation.names.map { Candidate(name: $0.name, rule: .annotation) }
            for name in key.names {
                if let (left, _) = ConstraintPair.halves(of: name) {
                    if !left.isEmpty { found.append(Candidate(name: String(left), rule: .pair)) }
                } else {
                    found.append(Candidate(name: name, rule: .constraintName))
                }
            }
        }
        found.append(Candidate(name: tables[end.destination].name.name, rule: .tableName))
        if let base = viewedBase(key, towards: end.destination) {
            let isAttribute = tables[end.source].attributeIndexes[base] != nil
            found.append(Candidate(name: isAttribute ? base + "Object" : base, rule: .columnName))
        }
        return found + generatedNames(of: key, holder: end.source, towards: end.destination)
    }

    /// The candidates of an end whose source the key refers to.
    func targetCandidates(_ end: RelationshipEnd, _ key: ForeignKey) -> [Candidate] {
        let holder = tables[end.destination].name.name
        let setName = key.isOneToOne ? holder : holder + "Set"
        var found: [Candidate] = []
        found.reserveCapacity(4)
        if end.viewCount == 0 {
            found += key.annotation.inverses.map {
                Candidate(name: $0.name, rule: .annotation, isOfOtherOwner: key.isOfOtherOwner && !$0.isOverride)
            }
            for name in key.names {
                if let (_, right) = ConstraintPair.halves(of: name), !right.isEmpty {
                    found.append(Candidate(name: String(right), rule: .pair))
                }
            }
        }
        found.append(Candidate(name: setName, rule: .tableName))
        if let base = key.base { found.append(Candidate(name: "\(base)_\(setName)", rule: .columnName)) }
        return found + generatedNames(of: key, holder: end.destination, towards: key.destination)
    }

    /// The candidates of a many-to-many end: its source is the target of the helper's near key, its destination of the far key.
    ///
    /// - Parameter needsHelper: Whether the far key's column does not tell this end from the other ends of its source,
    ///   so that the helper's name has to.
    func helperCandidates(
        _ end: RelationshipEnd,
        _ helper: HelperPair,
        near: ForeignKey,
        far: ForeignKey,
        needsHelper: Bool
    ) -> [Candidate] {
        var found: [Candidate] = []
        if end.viewCount == 0 {
            found = near.annotation.manyToMany.map {
                Candidate(name: $0.name, rule: .annotation, isOfOtherOwner: near.isOfOtherOwner && !$0.isOverride)
            }
            if found.isEmpty {
                // An annotated name serves both the helper and the referenced table, as the constraint's name does.
                found = near.annotation.names.map {
                    Candidate(
                        name: $0.name, rule: .annotation, givesWay: true,
                        isOfOtherOwner: near.isOfOtherOwner && !$0.isOverride)
                }
            }
            for name in near.names where ConstraintPair.halves(of: name) == nil {
                found.append(Candidate(name: name, rule: .constraintName))
            }
        }
        let setName = tables[end.destination].name.name + "Set"
        found.append(Candidate(name: setName, rule: .tableName, givesWay: true))
        let table = tables[helper.table].name
        let base = viewedBase(far, towards: end.destination).map { $0 + "Set" }
        // Between a table and itself both ends would have the names of helper and table.
        let ownName = near.destination == far.destination ? base : setName
        if needsHelper, let ownName {
            found.append(Candidate(name: "\(table.name)_\(ownName)", rule: .columnName))
        } else if let base {
            found.append(Candidate(name: base, rule: .columnName))
        }
        let suffix = generatedSuffix(end.destination, insteadOf: far.destination)
        for nearName in near.names {
            for farName in far.names {
                let name = "\(table.schema)_\(table.name)_\(nearName)_\(farName)\(suffix)"
                found.append(Candidate(name: name, rule: .generated))
            }
        }
        return found
    }

    /// A key's base; for a view with the view's name appended, or instead of the table's.
    private func viewedBase(_ key: ForeignKey, towards destination: Int) -> String? {
        guard let base = key.base, destination != key.destination else { return key.base }
        let view = tables[destination].name.name
        return base == tables[key.destination].name.name ? view : "\(base)_\(view)"
    }

    /// - Parameters:
    ///   - holder: The table that holds the key, or a view of it.
    ///   - destination: The table that the key refers to, or a view that the end leads to.
    private func generatedNames(of key: ForeignKey, holder: Int, towards destination: Int) -> [Candidate] {
        let table = tables[holder].name
        let suffix = generatedSuffix(destination, insteadOf: key.destination)
        return key.names.map { Candidate(name: "\(table.schema)_\(table.name)_\($0)\(suffix)", rule: .generated) }
    }

    /// The suffix that makes the generated name of an end towards a view unique, whatever other views there are.
    private func generatedSuffix(_ destination: Int, insteadOf table: Int) -> String {
        if destination == table { return "" }
        let view = tables[destination].name
        // In its table's schema the suffix omits the schema, so that classes that follow the search path find the name
        // in another schema.
        return view.schema == tables[table].name.schema ? "_\(view.name)" : "_\(view.schema)_\(view.name)"
    }
}

/// A constraint's name of the form `a__b`.
enum ConstraintPair {
    /// Returns the parts before and after the first `__`, either of which may be empty; nil if there is none.
    static func halves(of name: String) -> (Substring, Substring)? {
        let bytes = name.utf8
        var place = bytes.startIndex
        while let underscore = bytes[place...].firstIndex(of: UInt8(ascii: "_")) {
            let next = bytes.index(after: underscore)
            guard next < bytes.endIndex else { return nil }
            if bytes[next] == UInt8(ascii: "_") {
                return (name[..<underscore], name[bytes.index(after: next)...])
            }
            place = next
        }
        return nil
    }
}
