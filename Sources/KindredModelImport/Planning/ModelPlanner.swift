import KindredPostgres

/// Makes tables of a model, and a report of everything that is not in them as it is in the model.
struct ModelPlanner {
    /// An entity that is taken, with its place among the others.
    struct Node {
        let entity: CoreDataModel.Entity
        var parent: Int?
        /// The place of its table in the plan.
        var table = 0
        /// The names of the entities whose objects it stands for: itself and the entities below it, without abstract
        /// entities.
        var concrete: [String] = []
    }

    /// A property, by the entity that declares it.
    struct Property: Hashable {
        let node: Int
        let name: String
    }

    let model: CoreDataModel
    let options: ModelImportOptions
    var plan: SchemaPlan
    private(set) var reports: [ModelReport] = []

    /// Parents before children.
    var nodes: [Node] = []
    var nodeOf: [String: Int] = [:]
    /// The names of tables, types and indexes.
    var relationNames = NameSupply()
    /// For each table the names of columns and relationships; the model's names are kept from the start.
    var keyNames: [NameSupply] = []
    /// For each table the names of constraints.
    var constraintNames: [NameSupply] = []
    /// The name of the column that identifies a row, for each table.
    var keyColumns: [String] = []
    /// The name of the column that names a row's entity, for each table that has one.
    var discriminators: [String?] = []
    /// The columns of attributes and of to-one relationships that hold a foreign key.
    var columns: [Property: (table: Int, name: String)] = [:]
    /// The names of relationships in the database.
    var relationshipNames: [Property: String] = [:]
    /// The SQL of composite types.
    var compositeTypes: [String: String] = [:]
    /// The attributes that columns stand for, to share a column among entities that declare the same.
    var attributesOfColumns: [Int: [String: CoreDataModel.Attribute]] = [:]

    init(_ model: CoreDataModel, _ options: ModelImportOptions) throws {
        self.model = model
        self.options = options
        plan = SchemaPlan(schema: options.schema)
        reports = model.remarks
        try selectEntities()
        try makeTables()
        makeTypes()
        try makeAttributes()
        try makeRelationships()
        try makeUniquenessAndIndexes()
        deferCircles()
    }

    mutating func report(_ level: ModelReport.Level, _ subject: String, _ reason: String) {
        reports.append(ModelReport(level, subject, reason))
    }

    // MARK: Entities

    /// Takes the entities that the options name and the entities that they inherit from, parents first.
    mutating func selectEntities() throws {
        let known = Dictionary(model.entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var wanted = Set(model.entities.indices)
        if let name = options.configuration {
            guard let configuration = model.configurations.first(where: { $0.name == name }) else {
                let names = model.configurations.map(\.name).joined(separator: ", ")
                throw ModelImportError(
                    .unknownName,
                    "The model has no configuration \"\(name)\"\(names.isEmpty ? "" : ", but \(names)")")
            }
            wanted = Set(configuration.entities.compactMap { known[$0] })
            for name in configuration.entities where known[name] == nil {
                report(.omitted, "\(configuration.name).\(name)", "the configuration names an entity that is not there")
            }
        } else {
            for configuration in model.configurations {
                report(
                    .ignored, configuration.name,
                    "a configuration chooses entities; import it with --configuration to take those alone")
            }
        }
        if !options.entities.isEmpty {
            for name in options.entities where known[name] == nil {
                throw ModelImportError(.unknownName, "The model has no entity \"\(name)\"")
            }
            wanted.formIntersection(options.entities.compactMap { known[$0] })
        }
        for place in wanted.sorted() {
            var line: [Int] = []
            var next: Int? = place
            while let current = next, nodeOf[model.entities[current].name] == nil {
                line.append(current)
                next = model.entities[current].parent.flatMap { known[$0] }
            }
            for current in line.reversed() { add(model.entities[current], isWanted: wanted.contains(current)) }
        }
        for entity in model.entities where nodeOf[entity.name] == nil {
            report(.omitted, entity.name, "it is not among the entities that are asked for")
        }
        for place in nodes.indices where !nodes[place].entity.isAbstract {
            var next: Int? = place
            while let current = next {
                nodes[current].concrete.append(nodes[place].entity.name)
                next = nodes[current].parent
            }
        }
    }

    mutating func add(_ entity: CoreDataModel.Entity, isWanted: Bool) {
        var node = Node(entity: entity)
        if let parent = entity.parent {
            node.parent = nodeOf[parent]
            if node.parent == nil {
                report(.changed, entity.name, "its parent \(parent) is not in the model, so it has none")
            }
        }
        if !isWanted { report(.changed, entity.name, "it was not asked for, but one that was inherits from it") }
        nodeOf[entity.name] = nodes.count
        nodes.append(node)
    }

    /// The entity and the entities that it inherits from, nearest first.
    func line(of node: Int) -> [Int] {
        var line: [Int] = []
        var next: Int? = node
        while let current = next {
            line.append(current)
            next = nodes[current].parent
        }
        return line
    }

    /// Whether the entity has its table for itself or is the root of the entities that share it.
    func isWhole(_ node: Int) -> Bool { nodes[node].parent == nil || options.inheritance == .joined }
}
