import KindredAssistant
import KindredPostgres
import KindredSchema

/// Prints a schema, or one entity of it, for people.
struct SchemaPage {
    let schema: DatabaseSchema
    let terminal: Terminal

    /// All entities, each with its relationships on the lines below it.
    func printOverview(of shown: DatabaseSchema) {
        let relationshipCount = shown.entities.reduce(0) { $0 + $1.relationships.count }
        let relationships = counted(relationshipCount, "relationship", "relationships")
        terminal.print("\(counted(shown.entities.count, "entity", "entities")), \(relationships)")
        var table = TextTable()
        for entity in shown.entities {
            for relationship in entity.relationships { table.add(summary(of: relationship)) }
        }
        var lines = table.lines(indentation: 2, in: terminal)[...]
        for entity in shown.entities {
            terminal.print()
            terminal.print(
                "\(terminal.styled(shortName(entity.name), .bold))  "
                    + terminal.styled(heading(of: entity), .faint))
            for line in lines.prefix(entity.relationships.count) { terminal.print(line) }
            lines = lines.dropFirst(entity.relationships.count)
        }
        printDiagnostics(shown.diagnostics)
    }

    /// One entity in full.
    func print(_ entity: Entity) {
        terminal.print(
            "\(terminal.styled(entity.name.description, .bold))  "
                + terminal.styled(heading(of: entity), .faint))
        for line in (entity.comment ?? "").split(whereSeparator: \.isNewline) {
            terminal.print(TerminalText(String(line)))
        }
        var attributes = TextTable()
        for attribute in entity.attributes where !attribute.isHidden {
            attributes.add([
                (attribute.name, entity.primaryKey.contains(attribute.name) ? .bold : nil),
                (attribute.typeName, .cyan),
                (attribute.isNotNull ? "not null" : "", nil),
                (notes(on: attribute), .faint),
            ])
        }
        terminal.print()
        terminal.print("Attributes")
        for line in attributes.lines(indentation: 2, in: terminal) { terminal.print(line) }
        if !entity.relationships.isEmpty {
            terminal.print()
            terminal.print("Relationships")
        }
        for relationship in entity.relationships { print(relationship) }
        printDiagnostics(schema.diagnostics.filter { $0.entity == entity.name })
    }

    private func print(_ relationship: Relationship) {
        var title = TextTable()
        title.add(summary(of: relationship))
        for line in title.lines(indentation: 2, in: terminal) { terminal.print(line) }
        var facts: [String] = [relationship.comparedColumns]
        if !relationship.isToMany {
            let mayBeNil = schema[relationship.source].map(relationship.mayLeadNowhere) ?? true
            facts.append(mayBeNil ? "may be nil" : "never nil")
        }
        facts.append(relationship.deletion)
        if let position = relationship.orderedBy { facts.append("ordered by \(position)") }
        terminal.print("      \(facts.joined(separator: "; "))")
        for candidate in relationship.explanation {
            let mark = candidate.isGiven ? "+" : "-"
            terminal.print(terminal.styled("      \(mark) \(candidate)", .faint))
        }
    }

    private func printDiagnostics(_ diagnostics: [SchemaDiagnostic]) {
        guard !diagnostics.isEmpty else { return }
        terminal.print()
        terminal.print("Notes")
        for diagnostic in diagnostics {
            terminal.print("  \(terminal.styled(diagnostic.description, .yellow))")
        }
    }
}

extension SchemaPage {
    /// Name, kind, destination and the foreign key or helper.
    private func summary(of relationship: Relationship) -> [(text: String, style: Terminal.Style?)] {
        let cause = relationship.helper.map { "through \(shortName($0.entity))" } ?? relationship.foreignKey ?? ""
        return [
            (relationship.name, .green),
            (relationship.kind.words, nil),
            ("\(shortName(relationship.destination)).\(relationship.inverse)", .cyan),
            (cause, .faint),
        ]
    }

    private func heading(of entity: Entity) -> String {
        let kind =
            switch entity.kind {
            case .table: "table"
            case .partitionedTable: "partitioned table"
            case .view: "view"
            case .materializedView: "materialized view"
            case .foreignTable: "foreign table"
            }
        let key = entity.primaryKey.isEmpty ? "no key" : "key \(entity.primaryKey.joined(separator: ", "))"
        return ([kind, key] + (entity.isReadOnly ? ["read only"] : [])).joined(separator: ", ")
    }

    private func notes(on attribute: Attribute) -> String {
        var notes: [String] = []
        if attribute.identity != .none {
            notes.append("identity")
        } else if attribute.isGenerated {
            notes.append("generated")
        } else if attribute.hasDefault {
            notes.append("default")
        }
        if attribute.isLazy { notes.append("lazy") }
        if let labels = attribute.enumLabels { notes.append("one of \(labels.joined(separator: ", "))") }
        if let comment = attribute.comment { notes.append(comment) }
        return notes.joined(separator: "; ")
    }

    /// The name, without its schema if the search path finds it.
    private func shortName(_ name: QualifiedName) -> String {
        let found = try? schema.entity(named: name.name)
        return found?.name == name ? name.name : name.description
    }

    private func counted(_ count: Int, _ singular: String, _ plural: String) -> String {
        "\(count) \(count == 1 ? singular : plural)"
    }
}
