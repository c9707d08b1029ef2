import KindredPostgres

extension SchemaBuilder {
    /// Makes the readable relationships of one table, sorted by name.
    func makeRelationships(of table: Int) -> [Relationship] {
        checkAnnotations(of: table)
        guard tables[table].isVisible else { return [] }
        var relationships: [Relationship] = []
        relationships.reserveCapacity(tables[table].ends.count)
        for place in tables[table].ends {
            let end = ends[place]
            switch end.role {
            case .holder(let key):
                if isVisible(end) {
                    relationships.append(holderRelationship(place, keys[key]))
                } else if end.viewCount == 0 {
                    diagnoseUnreadable(keys[key])
                }
            case .target(let key):
                if isVisible(end) { relationships.append(targetRelationship(place, keys[key])) }
            case .helper(let pair, let isFirst):
                let (first, second) = (keys[helpers[pair].first], keys[helpers[pair].second])
                let table = tables[helpers[pair].table]
                guard isVisible(end), table.isVisible, table.shows(first.columns), table.shows(second.columns)
                else { continue }
                let (near, far) = isFirst ? (first, second) : (second, first)
                relationships.append(helperRelationship(at: place, helpers[pair], near: near, far: far))
            }
        }
        relationships.sort { $0.name < $1.name }
        for relationship in relationships where !relationship.isByView { diagnoseName(relationship) }
        return relationships
    }

    private func holderRelationship(_ place: Int, _ key: ForeignKey) -> Relationship {
        let end = ends[place]
        let isOptional = key.columns.contains { number in
            tables[key.source].place(of: number).map { !tables[key.source].attributes[$0].isNotNull } ?? true
        }
        return Relationship(
            name: ends[place].name,
            aliases: ends[place].aliases,
            kind: key.isOneToOne ? .oneToOne : .manyToOne,
            isOptional: isOptional,
            source: tables[end.source].name,
            destination: tables[end.destination].name,
            inverse: ends[place ^ 1].name,
            deleteRule: end.viewCount > 0 ? .noAction : key.annotation.toOneDeleteRule?.value ?? .nullify,
            foreignKey: key.name,
            columns: columnNames(end),
            destinationColumns: destinationColumnNames(end),
            holdsForeignKey: true,
            comparisons: key.comparisons,
            clearedColumns: clearedColumns(of: key, in: end.source, end.columns),
            isEnforced: key.isEnforced,
            databaseAction: end.viewCount > 0 ? .noAction : databaseAction(of: key),
            updateAction: end.viewCount > 0 || !key.isEnforced ? .noAction : key.updateAction,
            checkTime: key.checkTime,
            // A view may not show the row that the key refers to; a materialized one may show deleted rows.
            mayDangle: end.destination != key.destination || tables[end.source].kind == .materializedView
                || key.mayDangle || tables[key.source].relation.hasChildren,
            mayRepeat: end.destination != key.destination,
            isByView: end.viewCount > 0,
            explanation: explanation(of: place)
        )
    }

    private func targetRelationship(_ place: Int, _ key: ForeignKey) -> Relationship {
        let end = ends[place]
        let isByView = end.viewCount > 0
        return Relationship(
            name: ends[place].name,
            aliases: ends[place].aliases,
            kind: key.isOneToOne ? .oneToOne : .oneToMany,
            isOptional: true,
            source: tables[end.source].name,
            destination: tables[end.destination].name,
            inverse: ends[place ^ 1].name,
            deleteRule: isByView ? .noAction : key.annotation.deleteRule?.value ?? key.deleteRule,
            foreignKey: key.name,
            columns: columnNames(end),
            destinationColumns: destinationColumnNames(end),
            holdsForeignKey: false,
            comparisons: key.comparisons,
            orderedBy: key.isOneToOne ? nil : position(key, in: end.destination),
            isPositionUnique: isPositionUnique(key),
            minimumCount: key.isOneToOne || isByView ? nil : key.annotation.minimumCount?.value,
            maximumCount: key.isOneToOne || isByView ? nil : key.annotation.maximumCount?.value,
            clearedColumns: clearedColumns(of: key, in: end.destination, end.destinationColumns),
            isEnforced: key.isEnforced,
            databaseAction: isByView ? .noAction : databaseAction(of: key),
            updateAction: isByView || !key.isEnforced ? .noAction : key.updateAction,
            checkTime: key.checkTime,
            mayDangle: isByView || key.mayDangle || tables[key.source].relation.hasChildren,
            // A view may show a row several times.
            mayRepeat: key.isOneToOne && (end.destination != key.source || mayRepeat(key)),
            isByView: isByView,
            explanation: explanation(of: place)
        )
    }

    private func helperRelationship(
        at place: Int,
        _ helper: HelperPair,
        near: ForeignKey,
        far: ForeignKey
    ) -> Relationship {
        let end = ends[place]
        let isByView = end.viewCount > 0
        return Relationship(
            name: ends[place].name,
            aliases: ends[place].aliases,
            kind: .manyToMany,
            isOptional: true,
            source: tables[end.source].name,
            destination: tables[end.destination].name,
            inverse: ends[place ^ 1].name,
            deleteRule: isByView ? .noAction : deleteRule(of: helper, near: near),
            foreignKey: nil,
            columns: columnNames(end),
            destinationColumns: destinationColumnNames(end),
            holdsForeignKey: false,
            helper: RelationshipHelper(
                entity: tables[helper.table].name,
                sourceForeignKey: near.name,
                destinationForeignKey: far.name,
                sourceColumns: near.columnNames,
                destinationColumns: far.columnNames,
                requiredPayload: requiredPayload(of: helper),
                payload: payload(of: helper),
                ruleWithoutPayload: isByView ? .noAction : ruleWithoutPayload(near: near),
                sourceComparisons: near.comparisons,
                destinationComparisons: far.comparisons
            ),
            orderedBy: near.annotation.orderedBy?.value,
            isPositionUnique: isPositionUnique(near),
            minimumCount: isByView ? nil : near.annotation.minimumCount?.value,
            maximumCount: isByView ? nil : near.annotation.maximumCount?.value,
            isEnforced: near.isEnforced && far.isEnforced,
            isByView: isByView,
            explanation: explanation(of: place)
        )
    }

    private func columnNames(_ end: RelationshipEnd) -> [String] {
        tables[end.source].columnNames(end.columns)
    }

    private func destinationColumnNames(_ end: RelationshipEnd) -> [String] {
        tables[end.destination].columnNames(end.destinationColumns)
    }

    /// The column that orders the members of a key's relationship, in the table that holds it or in a view of it.
    private func position(_ key: ForeignKey, in holder: Int) -> String? {
        guard let ordered = key.annotation.orderedBy?.value else { return nil }
        if holder == key.source { return ordered }
        guard let number = tables[key.source].number(ofColumn: ordered),
            let columns = columns(of: holder, showing: key.columns + [number], of: key.source),
            let column = columns.last
        else { return nil }
        return tables[holder].columnNames([column]).first
    }

    /// The columns that become NULL when a member leaves, in the table that holds a key or in a view of it.
    private func clearedColumns(of key: ForeignKey, in holder: Int, _ columns: [Int16]) -> [String] {
        let cleared = clearedColumns(of: key)
        if holder == key.source { return cleared }
        let names = tables[holder].columnNames(columns)
        return zip(key.columnNames, names).filter { cleared.contains($0.0) }.map(\.1)
    }

    /// The columns of a key that become NULL when a member leaves: the nullable columns, or the columns that ON DELETE
    /// SET NULL (...) names; none if MATCH FULL would refuse a partly NULL key.
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

    /// The database's own action; SET NULL of a required column counts as a refusal.
    private func databaseAction(of key: ForeignKey) -> DatabaseAction {
        // Rows of inheriting tables are objects of the holder, but the key does not cover them.
        guard key.isEnforced, !tables[key.source].relation.hasChildren else { return .noAction }
        switch key.action {
        case .setNull:
            let cleared = key.deleteSetColumns.isEmpty ? key.columns : key.deleteSetColumns
            let columns = clearedColumns(of: key)
            return tables[key.source].columnNames(cleared).allSatisfy(columns.contains) ? .setNull : .noAction
        default: return key.action
        }
    }

    // MARK: Privileges

    /// Whether the role may read both sides, and the columns that are compared.
    private func isVisible(_ end: RelationshipEnd) -> Bool {
        let (source, destination) = (tables[end.source], tables[end.destination])
        return source.isVisible && destination.isVisible && source.shows(end.columns)
            && destination.shows(end.destinationColumns) && tellsReferencedTables(end)
    }

    /// Whether the role may read which rows a foreign key can refer to: it refers to no rows of inheriting tables.
    private func tellsReferencedTables(_ end: RelationshipEnd) -> Bool {
        switch end.role {
        case .holder: tables[end.destination].tellsTables
        case .target: tables[end.source].tellsTables
        case .helper: tables[end.source].tellsTables && tables[end.destination].tellsTables
        }
    }

    private func diagnoseUnreadable(_ key: ForeignKey) {
        let (source, destination) = (tables[key.source].name, tables[key.destination].name)
        diagnostics.append(
            SchemaDiagnostic(
                .unreadableForeignKey,
                entity: source,
                constraints: key.names,
                message: "The foreign key \(key.name) of \(source) makes no relationship, because the role "
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

    /// Reports annotations of a table's foreign keys that have no effect.
    private func checkAnnotations(of table: Int) {
        for place in tables[table].foreignKeys {
            let key = keys[place]
            if let ordered = key.annotation.orderedBy,
                let reason = whyNotPosition(ordered.value, in: tables[table], of: key)
            {
                report(reason, of: table, at: ordered.location)
            }
            let location = key.annotation.manyToMany.first?.location ?? key.annotation.manyToManyDeleteRule?.location
            if let location, !helpers.contains(where: { $0.first == place || $0.second == place }) {
                report("it names a many-to-many relationship, but the key makes none", of: table, at: location)
            }
        }
    }

    /// The reason why a column cannot hold positions; nil if it can.
    private func whyNotPosition(_ name: String, in table: Table, of key: ForeignKey) -> String? {
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
