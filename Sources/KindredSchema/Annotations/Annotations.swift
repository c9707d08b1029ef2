import KindredPostgres

/// An annotation that is malformed, or contradicts the database.
package struct AnnotationProblem: Sendable {
    /// The table or view concerned.
    package var entity: QualifiedName
    /// The place where it is written.
    package var location: String
    package var reason: String

    package init(entity: QualifiedName, location: String, reason: String) {
        self.entity = entity
        self.location = location
        self.reason = reason
    }
}

/// The options from comments and overrides, by the object that they apply to.
struct Annotations {
    /// Options and the place where they are written.
    struct Written<Options> {
        var options: Options
        var location: String
    }

    private(set) var tables: [UInt32: Written<TableOptions>] = [:]
    private(set) var columns: [UInt32: [Int16: Written<ColumnOptions>]] = [:]
    /// By the constraint's OID.
    private(set) var foreignKeys: [UInt32: Written<ForeignKeyOptions>] = [:]
    /// Comments for people.
    private(set) var tableComments: [UInt32: String] = [:]
    private(set) var columnComments: [UInt32: [Int16: String]] = [:]
    var problems: [AnnotationProblem] = []
    /// The unique keys that are to stay the keys of their tables.
    private(set) var preferredKeys: [UInt32: [String]] = [:]
    /// The tables that overrides name.
    private(set) var overridden: Set<QualifiedName> = []
    /// The places of the annotations that are left out.
    private let omitted: Set<ServerText>

    /// - Parameter omitted: The locations of comments whose annotations are not read.
    init(_ catalog: Catalog, overrides: [SchemaOverride], omitting omitted: Set<ServerText> = []) {
        self.omitted = omitted
        if catalog.comments.isEmpty && overrides.isEmpty { return }
        var names: [UInt32: QualifiedName] = [:]
        for relation in catalog.relations where !relation.isPartition {
            names[relation.oid] = QualifiedName(catalog: relation.schema, relation.name)
        }
        read(catalog, names)
        if !overrides.isEmpty { apply(overrides, catalog: catalog, names: names) }
    }

    /// The beginning of the places of overrides.
    static let override = "the override for "

    /// The error that reports every problem, if there is one.
    func error() -> SchemaError? { Self.error(problems) }

    /// The error that reports some problems; nil for none.
    static func error(_ problems: [AnnotationProblem]) -> SchemaError? {
        let sorted = problems.sorted {
            ($0.entity.description, $0.location, $0.reason) < ($1.entity.description, $1.location, $1.reason)
        }
        guard let first = sorted.first else { return nil }
        let message = sorted.map { "\($0.location): \($0.reason)" }.joined(separator: "; ")
        return SchemaError(
            .invalidAnnotation,
            "The schema's annotations do not fit: \(message)",
            entity: first.entity.description,
            location: first.location
        )
    }

    // MARK: Comments

    private mutating func read(_ catalog: Catalog, _ names: [UInt32: QualifiedName]) {
        let foreignKeyOIDs = Set(catalog.constraints.lazy.filter { $0.kind == .foreignKey }.map(\.oid))
        for comment in catalog.comments {
            switch comment.object {
            case .relation(let oid):
                guard let table = names[oid] else { continue }
                guard AnnotationText.isAnnotation(comment.text) else {
                    tableComments[oid] = comment.text
                    continue
                }
                let location = comment.object.location(on: table)
                let (annotation, remainder) = annotation(in: comment.text, table, location)
                tableComments[oid] = remainder
                guard var reader = annotation else { continue }
                tables[oid] = Written(options: reader.tableOptions(), location: location)
                note(reader.problems, of: table, at: location)
            case .column(let oid, let number):
                guard let table = names[oid] else { continue }
                guard AnnotationText.isAnnotation(comment.text) else {
                    columnComments[oid, default: [:]][number] = comment.text
                    continue
                }
                guard let name = catalog.columns.first(where: { $0.relation == oid && $0.number == number })?.name
                else { continue }
                let location = comment.object.location(on: table, column: name)
                let (annotation, remainder) = annotation(in: comment.text, table, location)
                columnComments[oid, default: [:]][number] = remainder
                guard var reader = annotation else { continue }
                columns[oid, default: [:]][number] = Written(options: reader.columnOptions(), location: location)
                note(reader.problems, of: table, at: location)
            case .constraint(let oid, _, let relation):
                guard let table = names[relation] else { continue }
                guard AnnotationText.isAnnotation(comment.text) else { continue }
                let location = comment.object.location(on: table)
                guard var reader = annotation(in: comment.text, table, location).reader else { continue }
                guard foreignKeyOIDs.contains(oid) else {
                    if reader.saysOnlyWhatToIgnore() { continue }
                    note(["the constraint is not a foreign key"], of: table, at: location)
                    continue
                }
                foreignKeys[oid] = Written(options: reader.foreignKeyOptions(), location: location)
                note(reader.problems, of: table, at: location)
            }
        }
    }

    /// Returns a reader for a comment's annotation, nil if it is malformed, and the comment's text for people.
    private mutating func annotation(
        in comment: String,
        _ table: QualifiedName,
        _ location: String
    ) -> (reader: AnnotationReader?, remainder: String?) {
        do {
            let text = try AnnotationText(comment)
            return (omitted.contains(location) ? nil : AnnotationReader(text), text.remainder)
        } catch {
            if !omitted.contains(location) { note([error.reason], of: table, at: location) }
            return (nil, nil)
        }
    }

    private mutating func note(_ reasons: [String], of table: QualifiedName, at location: String) {
        problems += reasons.map { AnnotationProblem(entity: table, location: location, reason: $0) }
    }

    // MARK: Overrides

    private mutating func apply(
        _ overrides: [SchemaOverride],
        catalog: Catalog,
        names: [UInt32: QualifiedName]
    ) {
        var oids: [QualifiedName: UInt32] = [:]
        for (oid, name) in names { oids[name] = oid }
        for entry in overrides {
            let meanings = DatabaseSchema.interpretations(of: entry.table, searchPath: catalog.searchPath)
            guard let table = meanings.first(where: { oids[$0] != nil }), let oid = oids[table] else {
                if case .preferredKey = entry.target { continue }
                let unknown = QualifiedName(schema: "", name: entry.table)
                note(["there is no such table"], of: unknown, at: "\(Self.override)\(entry.table)")
                continue
            }
            if case .preferredKey(let columns) = entry.target {
                preferredKeys[oid] = columns
                continue
            }
            overridden.insert(table)
            switch entry.target {
            case .preferredKey: break
            case .table(let options):
                let given = [options.group, options.filter, options.softDelete]
                if given.contains("") { note(["a name is empty"], of: table, at: "\(Self.override)\(table)") }
                Self.settle(&tables[oid], with: options, at: "\(Self.override)\(table)") { $0.overridden(by: $1) }
            case .column(let column, let options):
                let location = "\(Self.override)column \(column) of \(table)"
                guard
                    let number = catalog.columns.first(where: {
                        $0.relation == oid && $0.name == column
                    })?.number
                else {
                    note(["there is no such column"], of: table, at: location)
                    continue
                }
                Self.settle(&columns[oid, default: [:]][number], with: options, at: location) { $0.overridden(by: $1) }
            case .foreignKey(let constraint, let options):
                let location = "\(Self.override)foreign key \(constraint) of \(table)"
                guard
                    let key = catalog.constraints.first(where: {
                        $0.kind == .foreignKey && $0.relation == oid && $0.name == constraint
                    })
                else {
                    note(["there is no such foreign key"], of: table, at: location)
                    continue
                }
                let named = [options.name, options.inverse, options.manyToMany, options.orderedBy]
                if named.contains("") { note(["a name is empty"], of: table, at: location) }
                Self.settle(&foreignKeys[key.oid], with: options, at: location) { $0.overridden(by: $1) }
            }
        }
    }

    private static func settle<Options>(
        _ written: inout Written<Options>?,
        with options: Options,
        at location: String,
        merge: (Options, Options) -> Options
    ) {
        guard let known = written else {
            written = Written(options: options, location: location)
            return
        }
        written = Written(options: merge(known.options, options), location: "\(known.location), with \(location)")
    }
}
