import KindredSchema

/// The index of a site: the diagram of everything, and a list of the entities.
struct IndexPage {
    let site: DiagramSite
    let picture: Markup
    /// Whether the picture is too large to be read in the page's width.
    let isLarge: Bool

    var page: DiagramSite.Page {
        let count = site.entities.reduce(0) { $0 + $1.relationships.count }
        var body: Markup = """
            <h1>Entities <small>\(site.entities.count) entities, \(count) relationships</small></h1>
            <div class="\(isLarge ? "picture" : "picture fit")">\(picture)</div>

            """
        for (schema, entities) in schemas {
            body += "<h2>\(schema)</h2>\n<table>\n"
            body += "<tr><th>Entity</th><th>Kind</th><th>Attributes</th><th>Relationships</th><th>Comment</th></tr>\n"
            body += entities.map(row).joined("\n") + "\n</table>\n"
        }
        return DiagramSite.Page(path: "index.html", text: SitePage.html(title: "Entities", home: nil, body))
    }

    /// The entities of each schema; both are sorted.
    private var schemas: [(schema: String, entities: [Entity])] {
        var schemas: [(schema: String, entities: [Entity])] = []
        for entity in site.entities {
            if let last = schemas.last, last.schema.utf8.elementsEqual(entity.name.schema.utf8) {
                schemas[schemas.count - 1].entities.append(entity)
            } else {
                schemas.append((entity.name.schema, [entity]))
            }
        }
        return schemas
    }

    private func row(_ entity: Entity) -> Markup {
        let attributes = entity.attributes.count { !$0.isHidden }
        return """
            <tr><td><a href="\(DiagramSite.path(of: entity.name))">\(entity.name.name)</a></td><td>\(entity.kind.words)</td>\
            <td>\(attributes)</td><td>\(entity.relationships.count)</td><td>\(entity.comment?.onOneLine ?? "")</td></tr>
            """
    }
}
