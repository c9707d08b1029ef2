import KindredPostgres

extension SchemaBuilder {
    /// Makes the relationships of one table, sorted by name, without those that the role may not read.
    func makeRelationships(of table: Int) -> [Relationship] {
        checkAnnotations(of: table)
        guard tables[table].isVisible else { return [] }
        var relationships: [Relationship] = []
        relationships.reserveCapacity(tables[table].ends.count)
        for place in tables[table].ends {
            switch ends[place].role {
            case .holder(let key):
                if isVisible(keys[key]) {
                    relationships.append(holderRelationship(place, keys[key]))
                } else {
                    diagnoseUnreadable(keys[key])
                }
            case .target(let key):
                if isVisible(keys[key]) { relationships.append(targetRelationship(place, keys[key])) }
            case .helper(let pair, let isFirst):
                let (first, second) = (keys[helpers[pair].first], keys[helpers[pair].second])
                guard isVisible(first), isVisible(second) else { continue }
                let (near, far) = isFirst ? (first, second) : (second, first)
                relationships.append(helperRelationship(place, helpers[pair], near, far))
            }
        }
        relationships.sort { $0.name.precedesInBytes($1.name) }
        for relationship in relationships { diagnoseName(relationship) }
        return relationships
    }

    private func holderRelationship(_ place: Int, _ key: ForeignKey) -> Relationship {
        let isOptional = key.columns.contains { number in
            tables[key.source].place(of: number).map { !tables[key.source].attributes[$0].isNotNull } ?? true
        }
        return Relationship(
            name: ends[place].name,
            aliases: ends[place].aliases,
            kind: key.isOneToOne ? .oneToOne : .manyToOne,
            isOptional: isOptional,
            source: tables[key.source].name,
            destination: tables[key.destination].name,
            inverse: ends[place ^ 1].name,
            deleteRule: key.annotation.toOneDeleteRule?.value ?? .nullify,
            foreignKey: key.name,
            columns: key.columnNames,
            destinationColumns: key.destinationColumnNames,
            holdsForeignKey: true,
            clearedColumns: clearedColumns(of: key),
            isEnforced: key.isEnforced,
            databaseAction: databaseAction(of: key),
            updateAction: key.isEnforced ? key.updateAction : .noAction,
            mayDangle: key.mayDangle || tables[key.source].relation.hasChildren,
            mayRepeat: tables[key.destination].relation.hasChildren,
            explanation: explanation(of: place)
        )
    }

    private func targetRelationship(_ place: Int, _ key: ForeignKey) -> Relationship {
        Relationship(
            name: ends[place].name,
            aliases: ends[place].aliases,
            kind: key.isOneToOne ? .oneToOne : .oneToMany,
            isOptional: true,
            source: tables[key.destination].name,
            destination: tables[key.source].name,
            inverse: ends[place ^ 1].name,
            deleteRule: key.annotation.deleteRule?.value ?? key.deleteRule,
            foreignKey: key.name,
            columns: key.destinationColumnNames,
            destinationColumns: key.columnNames,
            holdsForeignKey: false,
            orderedBy: key.isOneToOne ? nil : key.annotation.orderedBy?.value,
            isPositionUnique: isPositionUnique(key),
            minimumCount: key.isOneToOne ? nil : key.annotation.minimumCount?.value,
            maximumCount: key.isOneToOne ? nil : key.annotation.maximumCount?.value,
            clearedColumns: clearedColumns(of: key),
            isEnforced: key.isEnforced,
            databaseAction: databaseAction(of: key),
            updateAction: key.isEnforced ? key.updateAction : .noAction,
            mayDangle: key.mayDangle || tables[key.source].relation.hasChildren,
            mayRepeat: key.isOneToOne && mayRepeat(key),
            explanation: explanation(of: place)
        )
    }

    private func helperRelationship(
        _ place: Int,
        _ helper: HelperPair,
        _ near: ForeignKey,
        _ far: ForeignKey
    ) -> Relationship {
        Relationship(
            name: ends[place].name,
            aliases: ends[place].aliases,
            kind: .manyToMany,
            isOptional: true,
            source: tables[near.destination].name,
            destination: tables[far.destination].name,
            inverse: ends[place ^ 1].name,
            deleteRule: deleteRule(of: helper, near: near),
            foreignKey: nil,
            columns: near.destinationColumnNames,
            destinationColumns: far.destinationColumnNames,
            holdsForeignKey: false,
            helper: RelationshipHelper(
                entity: tables[helper.table].name,
                sourceForeignKey: near.name,
                destinationForeignKey: far.name,
                sourceColumns: near.columnNames,
                destinationColumns: far.columnNames,
                requiredPayload: requiredPayload(of: helper),
                payload: payload(of: helper)
            ),
            orderedBy: near.annotation.orderedBy?.value,
            isPositionUnique: isPositionUnique(near),
            minimumCount: near.annotation.minimumCount?.value,
            maximumCount: near.annotation.maximumCount?.value,
            isEnforced: near.isEnforced && far.isEnforced,
            explanation: explanation(of: place)
        )
    }

    /// The columns of a key that become NULL when a member leaves: the nullable ones, or those that
    /// ON DELETE SET NULL (...) names; none if MATCH FULL would refuse a key that is NULL in part.
    private func clearedColumns(of key: ForeignKey) -> [String] {
        let table = tables[key.source]
        let nullable = key.columns.filter { number in
            table.place(of: number).map { !table.attributes[$0].isNotNull && !table.attributes[$0].isGenerated }
                ?? false
        }
        if key.isMatchFull { return nullable.count == key.columns.count ? key.columnNames : [] }
        let named = nullable.filter { key.deleteSetColumns.contains($0) }
        return table.columnNames(named.isEmpty ? nullable : named)
    }

    /// Whether the position column belongs to a unique key that is checked row by row.
    private func isPositionUnique(_ key: ForeignKey) -> Bool {
        guard let ordered = key.annotation.orderedBy else { return false }
        let table = tables[key.source]
        return table.number(ofColumn: ordered.value).map(table.immediatelyUnique.contains) ?? false
    }

    /// What the database does by itself, as far as it can: SET NULL of a required column is a refusal.
    private func databaseAction(of key: ForeignKey) -> DatabaseAction {
        // The rows of tables that inherit from the holder are among its objects, and none of the key's.
        guard key.isEnforced, !tables[key.source].relation.hasChildren else { return .noAction }
        switch key.action {
        case .setNull:
            let cleared = key.deleteSetColumns.isEmpty ? key.columns : key.deleteSetColumns
            let columns = clearedColumns(of: key)
            return tables[key.source].columnNames(cleared).allSatisfy(columns.contains) ? .setNull : .noAction
        default: return key.action
        }
    }

    // MARK: What the role may read

    /// Whether the role may read both tables, and the columns that they are compared by.
    private func isVisible(_ key: ForeignKey) -> Bool {
        let (source, destination) = (tables[key.source], tables[key.destination])
        guard source.isVisible, destination.isVisible else { return false }
        if source.relation.isReadable, destination.relation.isReadable { return true }
        return source.shows(key.columns) && destination.shows(key.destinationColumns)
    }

    private func diagnoseUnreadable(_ key: ForeignKey) {
        let (source, destination) = (tables[key.source].name, tables[key.destination].name)
        diagnostics.append(
            SchemaDiagnostic(
                .unreadableForeignKey,
                entity: source,
                constraints: key.names,
                message: "The foreign key \(key.name) of \(source) makes no relationship, as the role "
                    + "\(catalog.role) may not read \(destination) or a column that is needed"
            )
        )
    }

    private func diagnoseName(_ relationship: Relationship) {
        guard !relationship.explanation.contains(where: { $0.isGiven && $0.rule != .generated }) else { return }
        diagnostics.append(
            SchemaDiagnostic(
                .generatedNameOnly,
                entity: relationship.source,
                constraints: relationship.foreignKey.map { [$0] } ?? [],
                message: "\(relationship.source) reaches \(relationship.destination) by the generated name "
                    + "\(relationship.name) alone; an annotation on the foreign key can give it another"
            )
        )
    }

    // MARK: Annotations that name nothing

    /// Reports what the annotations of a table's foreign keys say in vain.
    private func checkAnnotations(of table: Int) {
        for place in tables[table].foreignKeys {
            let key = keys[place]
            if let ordered = key.annotation.orderedBy, let reason = whyNotPosition(ordered.value, tables[table], key) {
                report(table, ordered.location, reason)
            }
            let location = key.annotation.manyToMany.first?.location ?? key.annotation.manyToManyDeleteRule?.location
            if let location, !helpers.contains(where: { $0.first == place || $0.second == place }) {
                report(table, location, "it speaks of a many-to-many relationship, but the key makes none")
            }
        }
    }

    /// What keeps a column from holding positions; nil if nothing does.
    private func whyNotPosition(_ name: String, _ table: Table, _ key: ForeignKey) -> String? {
        guard let number = table.number(ofColumn: name), let place = table.place(of: number) else {
            return "\"orderedBy\" names no column: there is no \"\(name)\""
        }
        let attribute = table.attributes[place]
        if ![.int2, .int4, .int8].contains(attribute.baseType) {
            return "\"orderedBy\" must name an integer column: \"\(name)\" is of type \(attribute.typeName)"
        }
        if attribute.isGenerated || attribute.identity == .always {
            return "\"orderedBy\" must name a column that can be written: \"\(name)\" is generated"
        }
        if table.ignoredColumns.contains(number) { return "\"orderedBy\" names \"\(name)\", which is ignored" }
        if key.columns.contains(number) {
            return "\"orderedBy\" must not name a column of the foreign key itself: \"\(name)\""
        }
        return nil
    }
}
