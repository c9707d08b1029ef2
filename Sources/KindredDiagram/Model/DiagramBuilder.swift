import KindredPostgres
public import KindredSchema

extension Diagram {
    /// Makes the diagram of a schema.
    ///
    /// A pure function, which asks no database.
    ///
    /// Helper tables are folded into one line, unless the options show them, name them, or something else is related to
    /// them. Views are left out, unless the options show or name them. Partitions are never shown, since they are no
    /// entities.
    ///
    /// - Throws: `SchemaError` with the code `unknownEntity` if there is nothing of a name in `around`, like one of
    ///   `included`, or in one of `schemas`.
    public init(of schema: DatabaseSchema, options: Options = Options()) throws {
        let builder = DiagramBuilder(schema, options)
        try builder.select()
        self = builder.diagram()
    }
}

/// Chooses entities and lines, and puts them in order.
final class DiagramBuilder {
    let schema: DatabaseSchema
    let options: Diagram.Options
    /// Every pair of inverse relationships once, sorted.
    private let pairs: [Diagram.Edge]
    /// Entities to begin at, besides the entities that the options name.
    private let start: [QualifiedName]
    /// The helper tables that are folded into lines.
    private var folded: Set<QualifiedName> = []
    /// The views that no option asks for.
    private var hiddenViews: Set<QualifiedName> = []
    private var selected: Set<QualifiedName> = []
    /// The entities that the diagram is about.
    private var around: Set<QualifiedName> = []
    /// The entities that are nearer to ``around`` than the diagram reaches.
    private var inner: Set<QualifiedName> = []

    init(
        _ schema: DatabaseSchema, _ options: Diagram.Options, start: [QualifiedName] = [], pairs: [Diagram.Edge]? = nil
    ) {
        self.schema = schema
        self.options = options
        self.start = start
        self.pairs = pairs ?? Self.pairs(of: schema)
    }

    /// Settles which entities are shown.
    func select() throws {
        try refuseUnknownNames()
        let around = try options.around.map { try schema.entity(named: $0).name } + start
        self.around = Set(around)
        let isNamed = { (name: QualifiedName) in
            around.contains(name) || self.options.included.contains { !$0.contains("*") && name.isLike($0) }
        }
        if !options.showsHelpers {
            folded = FoldedHelpers.find(in: schema).filter { !isNamed($0) }
        }
        if !options.showsViews {
            hiddenViews = Set(schema.entities.filter(\.isView).map(\.name).filter { !isNamed($0) })
        }
        selected = Set(schema.entities.map(\.name).filter { wants($0) || around.contains($0) })
            .subtracting(folded).subtracting(hiddenViews)
        if !around.isEmpty { keepNeighbours(of: around) }
    }

    /// A name that nothing has is a mistake rather than an empty diagram.
    private func refuseUnknownNames() throws {
        for name in options.schemas.sorted()
        where !schema.entities.contains(where: { $0.name.schema == name }) {
            throw SchemaError(.unknownEntity, "There is no entity in a schema \"\(name)\"", entity: name)
        }
        for pattern in options.included where !schema.entities.contains(where: { $0.name.isLike(pattern) }) {
            throw SchemaError(.unknownEntity, "There is no entity like \"\(pattern)\"", entity: pattern)
        }
    }

    private func wants(_ name: QualifiedName) -> Bool {
        if !options.schemas.isEmpty, !options.schemas.contains(where: { $0 == name.schema }) {
            return false
        }
        if !options.included.isEmpty, !options.included.contains(where: name.isLike) { return false }
        return !options.excluded.contains(where: name.isLike)
    }

    /// Leaves out entities that are more lines away than wanted.
    private func keepNeighbours(of start: [QualifiedName]) {
        var neighbours: [QualifiedName: [QualifiedName]] = [:]
        for edge in lines() {
            neighbours[edge.from.entity, default: []].append(edge.to.entity)
            neighbours[edge.to.entity, default: []].append(edge.from.entity)
        }
        var reached = Set(start)
        inner = reached
        var border = start
        for _ in 0..<max(0, min(options.distance, selected.count)) where !border.isEmpty {
            inner = reached
            border = border.flatMap { neighbours[$0] ?? [] }.filter { reached.insert($0).inserted }
        }
        selected = reached
    }

    /// The pairs that are drawn: between selected entities, helper tables once, as a line or as an entity.
    private func lines() -> [Diagram.Edge] {
        pairs.filter { edge in
            guard selected.contains(edge.from.entity), selected.contains(edge.to.entity) else { return false }
            return edge.helper.map { !selected.contains($0) } ?? true
        }
    }

    /// The lines of the diagram; if there are many around some entities, without lines between two entities at its
    /// border.
    private func shownLines() -> [Diagram.Edge] {
        let lines = lines()
        if around.isEmpty || lines.count <= Diagram.mostLines { return lines }
        return lines.filter { inner.contains($0.from.entity) || inner.contains($0.to.entity) }
    }

    func diagram() -> Diagram {
        let lines = shownLines()
        let most = around.isEmpty ? Diagram.largestWithKeys : Diagram.largestWithColumns
        let isCut = options.labelsHubs && selected.count > most
        var ends: [QualifiedName: [String]] = [:]
        for end in lines.flatMap({ [$0.from, $0.to] }) { ends[end.entity, default: []].append(end.relationship) }
        var joins: [QualifiedName: [Diagram.Edge]] = [:]
        for pair in pairs {
            guard let helper = pair.helper, selected.contains(helper),
                !hiddenViews.contains(pair.from.entity), !hiddenViews.contains(pair.to.entity)
            else { continue }
            joins[helper, default: []].append(pair)
        }
        let isAlone = Set(selected.map(\.schema)).count < 2
        let homes = Set(around.map(\.schema))
        let home = homes.count == 1 && !isCut ? homes.first : nil
        let detail = detail(of: selected.count, isCut)
        let nodes = schema.entities.filter { selected.contains($0.name) }.map { entity in
            let isAtHome = isAlone || home == entity.name.schema
            return node(
                entity, title: isAtHome ? entity.name.name : entity.name.description, detail,
                (ends[entity.name] ?? []).sorted(), joins[entity.name] ?? [])
        }
        let hubs = options.labelsHubs ? Diagram.hubs(of: lines, except: isCut ? [] : around) : []
        let grouped = schema.entities.filter { selected.contains($0.name) && !(isCut && around.contains($0.name)) }
        return Diagram(
            nodes: nodes, edges: lines, hubs: hubs,
            groups: DiagramGrouping(entities: grouped, edges: lines, hubs: Set(hubs), isCut: isCut)
                .groups(byPart: isCut || nodes.count > Diagram.largestWithKeys),
            notation: options.notation, detail: detail, around: around.sorted(), isCut: isCut)
    }

    private func detail(of count: Int, _ isCut: Bool) -> Diagram.Detail {
        guard options.detail == .automatic else { return options.detail }
        if isCut || count > Diagram.largestWithKeys { return .names }
        return count > Diagram.largestWithColumns ? .keys : .columns
    }

    private func node(
        _ entity: Entity,
        title: String,
        _ detail: Diagram.Detail,
        _ relationships: [String],
        _ joins: [Diagram.Edge]
    ) -> Diagram.Node {
        let attributes = entity.attributes.filter { !$0.isHidden }
        var foreignKeys: [String] = []
        var compared: [String] = []
        for relationship in entity.relationships {
            compared += relationship.columns
            if relationship.holdsForeignKey { foreignKeys += relationship.columns }
        }
        var columns = attributes.map { attribute in
            Diagram.Column(
                name: attribute.name, type: attribute.typeName, isKey: entity.primaryKey.holds(attribute.name),
                isForeignKey: foreignKeys.holds(attribute.name), isNotNull: attribute.isNotNull)
        }
        let isFocus = around.contains(entity.name)
        let hasAll = isNeighbourhood ? isFocus && start.isEmpty : detail == .columns
        if !hasAll { columns.removeAll { !$0.isKey && !compared.holds($0.name) } }
        let away = entity.relationships.count { relationship in
            !relationships.holds(relationship.name) && !isWithin(relationship, of: entity)
        }
        return Diagram.Node(
            entity: entity.name, title: title, kind: entity.kind, comment: entity.comment,
            columns: columns, hiddenColumns: attributes.count - columns.count,
            pictured: pictured(isFocus, detail), relationships: relationships,
            hiddenRelationships: away, joins: joins, shownTables: entity.shownTables)
    }

    /// Whether the diagram shows some entities and, in less detail, the entities around them.
    private var isNeighbourhood: Bool { options.detail == .automatic && !around.isEmpty }

    private func pictured(_ isFocus: Bool, _ detail: Diagram.Detail) -> Diagram.PicturedColumns {
        if isNeighbourhood { return isFocus ? .all : selected.count > Diagram.mostLines ? .none : .identifying }
        return options.detail == .automatic && detail == .keys ? .identifying : .all
    }

    /// Whether a relationship without a line is no loss: the other end, or the helper in between, is there, or the other
    /// end is a view that no option asks for.
    private func isWithin(_ relationship: Relationship, of entity: Entity) -> Bool {
        if hiddenViews.contains(relationship.destination) { return true }
        if let helper = relationship.helper { return selected.contains(helper.entity) }
        return folded.contains(relationship.destination)
    }
}

extension [String] {
    /// Whether the array holds a name of the same bytes.
    func holds(_ name: String) -> Bool { contains { $0 == name } }
}
