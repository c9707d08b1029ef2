extension SchemaBuilder {
    typealias Candidate = NameSettlement.Candidate

    /// The names of an end on the table that holds the key, towards the one that it refers to, but for generated ones.
    func holderCandidates(_ key: ForeignKey) -> [Candidate] {
        let table = tables[key.source]
        var found = key.annotation.names.map { Candidate(name: $0.name, rule: .annotation) }
        found.reserveCapacity(4)
        for name in key.names {
            if let (left, _) = ConstraintPair.halves(of: name) {
                if !left.isEmpty { found.append(Candidate(name: String(left), rule: .pair)) }
            } else {
                found.append(Candidate(name: name, rule: .constraintName))
            }
        }
        found.append(Candidate(name: tables[key.destination].name.name, rule: .tableName))
        if let base = key.base {
            let isAttribute = table.attributeIndexes[base] != nil
            found.append(Candidate(name: isAttribute ? base + "Object" : base, rule: .columnName))
        }
        return found
    }

    /// The names of an end on the table that the key refers to, towards the one that holds it, but for generated ones.
    func targetCandidates(_ key: ForeignKey) -> [Candidate] {
        let holder = tables[key.source].name.name
        let setName = key.isOneToOne ? holder : holder + "Set"
        var found = key.annotation.inverses.map { Candidate(name: $0.name, rule: .annotation) }
        found.reserveCapacity(4)
        for name in key.names {
            if let (_, right) = ConstraintPair.halves(of: name), !right.isEmpty {
                found.append(Candidate(name: String(right), rule: .pair))
            }
        }
        found.append(Candidate(name: setName, rule: .tableName))
        if let base = key.base { found.append(Candidate(name: "\(base)_\(setName)", rule: .columnName)) }
        return found
    }

    /// The names of an end on the table that a helper's near key refers to, towards that of its far key.
    ///
    /// - Parameter hasDirect: Whether the same two tables have a one-to-many relationship too, the same way: then the
    ///   helper's name tells what it is about.
    func helperCandidates(
        _ helper: HelperPair,
        _ near: ForeignKey,
        _ far: ForeignKey,
        hasDirect: Bool
    ) -> [Candidate] {
        var found = near.annotation.manyToMany.map { Candidate(name: $0.name, rule: .annotation) }
        if found.isEmpty {
            // As the constraint's own name does, its annotated name serves both the helper and the referenced table.
            found = near.annotation.names.map { Candidate(name: $0.name, rule: .annotation, givesWay: true) }
        }
        for name in near.names where ConstraintPair.halves(of: name) == nil {
            found.append(Candidate(name: name, rule: .constraintName))
        }
        let setName = tables[far.destination].name.name + "Set"
        found.append(Candidate(name: setName, rule: .tableName, givesWay: true))
        let table = tables[helper.table].name
        // Between a table and itself the helper's name would not tell the two ends apart.
        if hasDirect, near.destination != far.destination {
            found.append(Candidate(name: "\(table.name)_\(setName)", rule: .columnName))
        } else if let base = far.base {
            found.append(Candidate(name: base + "Set", rule: .columnName))
        }
        for nearName in near.names {
            for farName in far.names {
                let name = "\(table.schema)_\(table.name)_\(nearName)_\(farName)"
                found.append(Candidate(name: name, rule: .generated))
            }
        }
        return found
    }

    func generatedNames(of key: ForeignKey) -> [Candidate] {
        let table = tables[key.source].name
        return key.names.map { Candidate(name: "\(table.schema)_\(table.name)_\($0)", rule: .generated) }
    }
}

/// A constraint's name of the form `a__b`.
enum ConstraintPair {
    /// Returns what stands before and after the first `__`, either of which may be empty; nil if there is none.
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
