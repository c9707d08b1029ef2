/// Finds the statements that lead from one snapshot to another.
///
/// First it is found what changes, and what has to be dropped for that and made again (`findChanges`, which follows
/// dependencies); then statements are written, in the order in which their phases run.
package struct SchemaPlanner {
    let from: SchemaSnapshot
    let to: SchemaSnapshot
    /// Whether indexes are built and constraints validated without keeping others from writing.
    package var isConcurrent = true
    /// Whether functions, triggers and policies are made, too: for a copy of a schema on another server.
    package var isComplete = false

    /// Whether NULL becomes the default where a column may have it no more; only without `isConcurrent`.
    package var fillsNulls = false
    /// Changes of rows: they run where all columns are as they will be, before constraints are added.
    package var updates: [SchemaStatement] = []

    // What changes
    /// Things of the old side that are dropped, be it to be made again.
    var dropped: Set<ItemName> = []
    var retyped: [ItemName: TypeChange] = [:]
    var replacedTypes: Set<ItemName> = []
    /// Types that leave their names to others before they are dropped: those that are replaced by one of the same name,
    /// and those that go while a relation of the same name comes.
    var renamedTypes: [ItemName] = []
    var resetDefaults: Set<ItemName> = []
    var replacedViews: Set<ItemName> = []
    /// What takes the names of foreign tables.
    var replacedForeignTables: [ItemName] = []
    /// What stands in the way and is not changed, such as a function.
    package internal(set) var obstacles: Set<String> = []
    /// The same of what a copy of a schema does not have, so that a trial says nothing about it: rules, aggregates and
    /// their like.
    package internal(set) var untried: Set<String> = []
    let dependents: [ItemName: Set<ItemName>]

    // The statements, by phase
    var enums: [SchemaStatement] = []
    var main: [SchemaStatement] = []
    var concurrent: [SchemaStatement] = []
    var constraints: [SchemaStatement] = []
    var validations: [SchemaStatement] = []
    private var helperCount = 0

    package init(from: SchemaSnapshot, to: SchemaSnapshot) {
        self.from = from.indexed()
        self.to = to.indexed()
        dependents = from.dependents
    }

    /// The steps, in their order; none where nothing has to change.
    package mutating func plan() throws -> [SchemaStep] {
        findChanges()
        try alterEnums()
        try dropThings()
        try createThings()
        try alterTables()
        try alterOverrides()
        try dropLate()
        try addConstraints()
        try createViews()
        try secureTables()
        try recreateTriggers()
        try setComments()
        main += updates
        if isConcurrent {
            return [
                SchemaStep(isTransaction: false, statements: enums), SchemaStep(isTransaction: true, statements: main),
                SchemaStep(isTransaction: false, statements: concurrent),
                SchemaStep(isTransaction: true, statements: constraints),
                SchemaStep(isTransaction: false, statements: validations),
            ].filter { !$0.statements.isEmpty }
        }
        return [
            SchemaStep(isTransaction: false, statements: enums),
            SchemaStep(isTransaction: true, statements: main + concurrent + constraints + validations),
        ].filter { !$0.statements.isEmpty }
    }

    /// A name for a constraint that lives as long as the change.
    mutating func helperName() -> String {
        helperCount += 1
        return "kindred_not_null_\(helperCount)"
    }

    func isCreated(_ name: ItemName) -> Bool {
        to[name] != nil && (from[name] == nil || dropped.contains(name) || replacedTypes.contains(name))
    }

    /// Whether a table is there before and afterwards.
    func isKept(_ table: ItemName) -> Bool {
        from[table] != nil && to[table] != nil && !dropped.contains(table)
    }

    func isPartitioned(_ table: ItemName) -> Bool { to.table(table)?.isPartitioned == true }
}
