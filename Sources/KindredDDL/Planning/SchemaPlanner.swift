package import KindredPostgres

/// Finds the statements that lead from one snapshot to another.
///
/// First the changes are found, with everything that has to be dropped for them and made again (`findChanges`, which
/// follows dependencies); then statements are written, in the order in which their phases run.
package struct SchemaPlanner {
    let from: SchemaSnapshot
    let to: SchemaSnapshot
    /// Whether indexes are built and constraints validated without keeping other sessions from writing.
    package var isConcurrent = true

    /// Whether NULL becomes the default where a column may no longer have it; only without `isConcurrent`.
    package var fillsNulls = false
    /// Changes of rows: they run where all columns are as they will be, before constraints are added.
    package var updates: [SchemaStatement] = []

    // The changes
    /// Things of the old side that are dropped, even if only to be made again.
    var dropped: Set<ItemName> = []
    var retyped: [ItemName: TypeChange] = [:]
    var replacedTypes: Set<ItemName> = []
    /// Types that are renamed before they are dropped, so that their names are free: types that a type of the same name
    /// replaces, and types that are dropped while a relation of the same name is made.
    var renamedTypes: [ItemName] = []
    var resetDefaults: Set<ItemName> = []
    var replacedViews: Set<ItemName> = []
    /// Functions and triggers that CREATE OR REPLACE changes.
    var replacedObjects: Set<ItemName> = []
    /// Things in the way that are not dropped and made again, such as a table whose partition key needs a function.
    package internal(set) var obstacles: Set<ServerText> = []
    /// Things in the way that are only named, such as a publication: a copy of a schema does not have them, so that a
    /// trial says nothing about them.
    package internal(set) var untried: Set<ServerText> = []
    /// Where views and objects are made; see ``findStages()``.
    var stages: [ItemName: Stage] = [:]
    let dependents: [ItemName: Set<ItemName>]

    // The statements, by phase
    var enums: [SchemaStatement] = []
    var main: [SchemaStatement] = []
    /// Functions and collations that go after the types and columns that need them.
    var lateDrops: [SchemaStatement] = []
    /// Indexes that are dropped for good, or before other indexes with their names are built.
    var concurrentDrops: [SchemaStatement] = []
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
        findStages()
        try alterEnums()
        try dropThings()
        try createThings()
        try alterTables()
        try alterOverrides()
        try dropLate()
        try makeObjects(of: .afterTables)
        try setProperties(isLate: false)
        try addConstraints()
        try makeObjects(of: .late)
        try createViewIndexes()
        try setProperties(isLate: true)
        try setComments()
        main += updates
        try createEventTriggers()
        allowUncheckedBodies()
        concurrent = concurrentDrops + concurrent
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

    /// Whether a view or object is made, even if by CREATE OR REPLACE.
    func isMade(_ name: ItemName) -> Bool {
        isCreated(name) || replacedViews.contains(name) || replacedObjects.contains(name)
    }

    /// Whether a table is there before and afterwards.
    func isKept(_ table: ItemName) -> Bool {
        from[table] != nil && to[table] != nil && !dropped.contains(table)
    }

    func isPartitioned(_ table: ItemName) -> Bool { to.table(table)?.isPartitioned == true }
}
