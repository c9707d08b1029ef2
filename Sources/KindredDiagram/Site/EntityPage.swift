import KindredPostgres
import KindredSchema

/// The page of one entity: its neighbourhood, its attributes, its relationships and where their names come from.
struct EntityPage {
    let site: DiagramSite
    let entity: Entity
    let picture: Markup

    var page: DiagramSite.Page {
        var body: Markup = """
            <h1>\(entity.name.name) <small>\(facts)</small></h1>

            """
        if let comment = entity.comment?.onOneLine { body += "<p>\(comment)</p>\n" }
        body += "<div class=\"picture\">\(picture)</div>\n"
        body += "<h2>Attributes</h2>\n<table>\n<tr><th>Name</th><th>Type</th><th></th><th></th></tr>\n"
        body += entity.attributes.filter { !$0.isHidden }.map(row).joined("\n") + "\n</table>\n"
        if !entity.relationships.isEmpty { body += "<h2>Relationships</h2>\n" }
        for relationship in entity.relationships { body += section(relationship) }
        let notes = site.schema.diagnostics.filter { $0.entity == entity.name }
        if !notes.isEmpty { body += "<h2>Notes</h2>\n" }
        for note in notes { body += "<p class=\"note\">\(note.description)</p>\n" }
        return DiagramSite.Page(
            path: DiagramSite.path(of: entity.name),
            text: SitePage.html(title: entity.name.description, home: "../index.html", body))
    }

    private var facts: String {
        let key = entity.primaryKey.isEmpty ? "no key" : "key " + entity.primaryKey.joined(separator: ", ")
        var facts = ["\(entity.kind.words) in \(entity.name.schema)", key]
        if entity.isReadOnly { facts.append("read only") }
        if let group = entity.group { facts.append("group \(group)") }
        if !entity.shownTables.isEmpty {
            facts.append("shows " + entity.shownTables.map(\.description).joined(separator: ", "))
        }
        return facts.joined(separator: "; ")
    }

    private func row(_ attribute: Attribute) -> Markup {
        var notes: [String] = []
        switch attribute.identity {
        case .always: notes.append("always identity")
        case .byDefault: notes.append("identity")
        case .none where attribute.isGenerated: notes.append("generated")
        case .none where attribute.hasDefault: notes.append("default")
        case .none: break
        }
        if attribute.isLazy { notes.append("lazy") }
        if let labels = attribute.enumLabels { notes.append("one of " + labels.joined(separator: ", ")) }
        if let comment = attribute.comment?.onOneLine { notes.append(comment) }
        let name: Markup =
            entity.primaryKey.holds(attribute.name)
            ? #"<span class="key">\#(attribute.name)</span>"# : "\(attribute.name)"
        return """
            <tr><td>\(name)</td><td class="type">\(attribute.typeName)</td><td>\(attribute.isNotNull ? "not null" : "")</td>\
            <td>\(notes.joined(separator: "; "))</td></tr>
            """
    }

    // MARK: Relationships

    private func section(_ relationship: Relationship) -> Markup {
        let names = relationship.explanation.map { name in
            name.isGiven ? "<li>\(name.description)</li>" : "<li class=\"lost\">\(name.description)</li>" as Markup
        }
        return """
            <h3>\(relationship.name) <span class="faint">\(relationship.kind.words) to</span> \
            \(link(to: relationship.destination))<span class="faint">.\(relationship.inverse)</span></h3>
            <div>\(facts(of: relationship))</div>
            <ul>
            \(names.joined("\n"))
            </ul>

            """
    }

    private func facts(of relationship: Relationship) -> Markup {
        var facts: [Markup] = []
        if let helper = relationship.helper {
            facts.append(
                "through \(link(to: helper.entity)) by \(helper.sourceForeignKey) and \(helper.destinationForeignKey)")
        } else if let key = relationship.foreignKey {
            facts.append("foreign key \(key)")
        }
        facts.append("\(relationship.comparedColumns)")
        if !relationship.isToMany {
            facts.append(relationship.mayLeadNowhere(from: entity) ? "may be nil" : "never nil")
        }
        facts.append("\(relationship.deletion)")
        if let position = relationship.orderedBy { facts.append("ordered by \(position)") }
        if let minimum = relationship.minimumCount { facts.append("at least \(minimum)") }
        if let maximum = relationship.maximumCount { facts.append("at most \(maximum)") }
        return facts.joined("; ")
    }

    private func link(to name: QualifiedName) -> Markup {
        let title = name.schema.utf8.elementsEqual(entity.name.schema.utf8) ? name.name : name.description
        guard let address = site.link(to: name, fromIndex: false) else { return "\(title)" }
        return #"<a href="\#(address)">\#(title)</a>"#
    }
}
