import Kindred
import KindredPostgres
import KindredSchema

/// The state of a database that the rules look at: the catalog's rows by their owners, and the model that Kindred makes
/// of them.
struct Examination: Sendable {
    private(set) var facts: DoctorCatalog
    /// The rows that the model is made of, as if the role might read everything.
    let catalog: Catalog
    let schema: DatabaseSchema
    /// The annotations that do not fit; the model is made without them.
    let problems: [AnnotationProblem]
    /// The comments of these annotations without the members that do not fit; further annotations are added to these
    /// texts.
    private(set) var annotationRepairs = AnnotationRepairs()
    /// The files that would be written otherwise today, and the folder's name; nil where it was not compared.
    let outdated: (folder: String, files: [String]?)?
    /// The keys that generated classes keep, where another unique key of their table would be chosen today.
    let otherKeys: [QualifiedName: [String]]
    /// The column by which rows are a tenant's; nil where nothing is said of tenants.
    let tenantColumn: String?
    let openSchemas: [String]
    let searchPath: [String]
    let role: String
    let bypassesRowSecurity: Bool
    let relations: [UInt32: DoctorCatalog.Relation]
    /// Tables, partitions and views, sorted by name.
    let sortedRelations: [DoctorCatalog.Relation]
    let partitions: [UInt32: [UInt32]]
    /// The foreign keys that are not part of a parent table's key, sorted by table and name.
    let foreignKeys: [DoctorCatalog.ForeignKey]
    private let columnsByRelation: [UInt32: [DoctorCatalog.Column]]
    private let indexesByRelation: [UInt32: [DoctorCatalog.Index]]
    private let keysByRelation: [UInt32: [DoctorCatalog.ForeignKey]]
    private let oids: [QualifiedName: UInt32]
    private let takenNames: Set<QualifiedName>
    private let indexesByOID: [UInt32: DoctorCatalog.Index]
    private let domainBases: [UInt32: UInt32]
    /// Partitions, and tables that inherit, by their parents.
    let descendants: [UInt32: [UInt32]]
    let columnUses: [UInt32: [DoctorCatalog.ColumnUse]]
    let constraints: [UInt32: [DoctorCatalog.Constraint]]
    /// The numbers of rules that annotations ignore.
    private let ignored: [CatalogObject: Set<ServerText>]

    /// The model without the annotations that do not fit, and the problems of these annotations.
    static func model(of catalog: Catalog) -> (schema: DatabaseSchema, problems: [AnnotationProblem]) {
        let (schema, problems) = DatabaseSchema.diagnosed(catalog: catalog)
        return (schema, problems + schema.filterProblems())
    }

    init(
        _ catalog: Catalog, _ facts: DoctorCatalog, generated: GeneratedClasses? = nil, tenantColumn: String? = nil,
        targetVersion: Int? = nil
    ) {
        self.facts = facts
        if let targetVersion { self.facts.settings.serverVersion = targetVersion }
        self.tenantColumn = tenantColumn
        openSchemas = catalog.openSchemas
        searchPath = catalog.searchPath
        role = catalog.role
        bypassesRowSecurity = catalog.bypassesRowSecurity
        // The rules are about the whole database, not about the part that one role may read.
        var whole = catalog
        for index in whole.relations.indices {
            whole.relations[index].isReadable = true
            whole.relations[index].isReachable = true
        }
        self.catalog = whole
        (schema, problems) = Self.model(of: whole)
        // Classes are made from the part that the role may read.
        let visible = generated.map { _ in DatabaseSchema.diagnosed(catalog: catalog).schema }
        outdated = generated.map { classes in (classes.folder, visible.flatMap { classes.outdated(against: $0) }) }
        otherKeys = generated.flatMap { classes in visible.map { classes.otherKeys(against: $0) } } ?? [:]
        relations = Dictionary(facts.relations.map { ($0.oid, $0) }) { first, _ in first }
        sortedRelations = facts.relations.sorted { $0.qualifiedName < $1.qualifiedName }
        oids = Dictionary(facts.relations.map { ($0.qualifiedName, $0.oid) }) { first, _ in first }
        partitions = Dictionary(
            grouping: sortedRelations.filter { $0.isPartition && $0.parent != 0 }.map { ($0.parent, $0.oid) },
            by: \.0
        ).mapValues { $0.map(\.1) }
        columnsByRelation = Dictionary(grouping: facts.columns, by: \.relation)
            .mapValues { $0.sorted { $0.number < $1.number } }
        indexesByRelation = Dictionary(grouping: facts.indexes, by: \.relation)
            .mapValues { $0.sorted { $0.name < $1.name } }
        indexesByOID = Dictionary(facts.indexes.map { ($0.oid, $0) }) { first, _ in first }
        keysByRelation = Dictionary(grouping: facts.foreignKeys.filter { $0.parent == 0 }, by: \.relation)
            .mapValues { $0.sorted { $0.name < $1.name } }
        var foreignKeys: [DoctorCatalog.ForeignKey] = []
        for relation in sortedRelations { foreignKeys += keysByRelation[relation.oid] ?? [] }
        self.foreignKeys = foreignKeys
        let relations = relations
        takenNames = Set(oids.keys).union(
            facts.indexes.compactMap { index in
                relations[index.relation].map { QualifiedName(schema: $0.schema, name: index.name) }
            })
        domainBases = Dictionary(
            catalog.types.filter { $0.base != 0 }.map { ($0.oid, $0.base) }, uniquingKeysWith: { first, _ in first })
        descendants = sortedRelations.reduce(into: partitions) { found, relation in
            for ancestor in relation.ancestors { found[ancestor, default: []].append(relation.oid) }
        }
        columnUses = Dictionary(grouping: facts.columnUses, by: \.relation)
        constraints = Dictionary(grouping: facts.constraints, by: \.relation)
        ignored = facts.comments.compactMapValues { text in
            let rules = DoctorAnnotation(text)?.ignoredRules ?? []
            return rules.isEmpty ? nil : rules
        }
        annotationRepairs = AnnotationRepairs(self)
        self.facts.comments.merge(annotationRepairs.texts) { $1 }
    }

    func columns(of relation: UInt32) -> [DoctorCatalog.Column] { columnsByRelation[relation] ?? [] }
    func indexes(of relation: UInt32) -> [DoctorCatalog.Index] { indexesByRelation[relation] ?? [] }
    func foreignKeys(of relation: UInt32) -> [DoctorCatalog.ForeignKey] { keysByRelation[relation] ?? [] }
    func index(_ oid: UInt32) -> DoctorCatalog.Index? { indexesByOID[oid] }
    func oid(of name: QualifiedName) -> UInt32? { oids[name] }

    func column(_ number: Int16, of relation: UInt32) -> DoctorCatalog.Column? {
        columns(of: relation).first { $0.number == number }
    }

    func column(named name: String, of relation: UInt32) -> DoctorCatalog.Column? {
        columns(of: relation).first { $0.name == name }
    }

    /// The names of columns; columns that are gone are left out.
    func names(_ numbers: some Sequence<Int16>, of relation: UInt32) -> [String] {
        numbers.compactMap { column($0, of: relation)?.name }
    }

    func foreignKey(named name: String, of relation: UInt32) -> DoctorCatalog.ForeignKey? {
        foreignKeys(of: relation).first { $0.name == name }
    }

    /// The tables that hold the rows: the table itself, or the partitions at the ends of its tree.
    func leaves(of relation: UInt32) -> [DoctorCatalog.Relation] {
        var leaves: [DoctorCatalog.Relation] = []
        var seen: Set<UInt32> = []
        var pending = [relation]
        while let next = pending.popLast() {
            guard seen.insert(next).inserted, let found = relations[next] else { continue }
            if found.isPartitioned {
                pending += partitions[next] ?? []
            } else {
                leaves.append(found)
            }
        }
        return leaves.sorted { $0.qualifiedName < $1.qualifiedName }
    }

    /// The estimated number of rows; of a partitioned table, its partitions' sum.
    func rows(of relation: UInt32) -> Int {
        leaves(of: relation).reduce(0) { $0.addingReportingOverflow($1.rows).partialValue }
    }

    /// The type that a domain is made of at the bottom; the type itself for every other.
    func baseType(_ type: UInt32) -> UInt32 {
        var type = type
        for _ in 0..<32 {
            guard let base = domainBases[type] else { break }
            type = base
        }
        return type
    }

    /// Whether an annotation ignores a rule's findings about an object.
    func ignores(_ rule: String, on object: CatalogObject) -> Bool {
        ignored[object]?.contains(rule) ?? false
    }

    /// Whether an index or a constraint of a table cannot have a name, as a relation or another constraint has it.
    func isTaken(_ name: String, on relation: DoctorCatalog.Relation) -> Bool {
        takenNames.contains(QualifiedName(schema: relation.schema, name: name))
            || foreignKey(named: name, of: relation.oid) != nil || hasConstraint(name, on: relation.oid)
    }

    /// Whether a constraint of a table that is no foreign key has a name.
    func hasConstraint(_ name: String, on relation: UInt32) -> Bool {
        constraints[relation]?.contains { $0.name == name } ?? false
    }
}
