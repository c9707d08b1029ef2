import KindredPostgres
import KindredSchema

/// The Swift names of everything in a model: unique, valid, and with earlier names kept.
struct ModelNames {
    private(set) var lock: NameLock
    /// Why names cannot be used.
    private(set) var problems: [String] = []
    private let selected: Set<QualifiedName>

    /// - Parameters:
    ///   - takesAnnotations: whether columns and relationships that annotations name give up another name that they had.
    ///   - renamesForeignKeys: whether foreign keys and their relationships give up the names that they had.
    init(
        schema: DatabaseSchema, entities: [Entity], lock: NameLock, takesAnnotations: Bool = false,
        renamesForeignKeys: Bool = false
    ) {
        self.lock = lock
        selected = Set(entities.map(\.name))
        for entity in entities {
            forgetNamesOfGone(in: entity)
            if takesAnnotations { forgetNames(ofAnnotatedIn: entity) }
            if renamesForeignKeys { forgetNames(ofForeignKeysIn: entity) }
        }
        nameTypes(schema, entities)
        for entity in entities {
            nameProperties(of: entity)
            keepKey(of: entity)
            checkProperties(of: entity)
        }
        checkClasses()
    }

    /// The columns that identify the objects of an entity, where they were chosen among unique keys and still are one.
    func chosenKey(of entity: Entity) -> [String]? { lock.entities[NameLock.key(entity.name)]?.key }

    /// Keeps the key that was chosen before, as long as it is one; a primary key is no choice.
    private mutating func keepKey(of entity: Entity) {
        let key = NameLock.key(entity.name)
        let uniqueKeys = entity.choosableKeys
        if let known = lock.entities[key]?.key, uniqueKeys.contains(where: { Set(texts: $0) == Set(texts: known) }) {
            return
        }
        let chosen = uniqueKeys.isEmpty ? nil : entity.primaryKey
        lock.entities[key]?.key = chosen
    }

    /// Whether the relationship of a column's foreign key would have the column's name, were it free.
    private func sharesName(_ attribute: Attribute, in entity: Entity) -> Bool {
        entity.relationships.contains { Self.column(sharingNameOf: $0) == attribute.name }
    }

    /// The column of a relationship's foreign key, where the relationship would have its name: `author` of `authorObject`.
    private static func column(sharingNameOf relationship: Relationship) -> String? {
        guard relationship.holdsForeignKey, !relationship.isToMany, !relationship.isByView,
            relationship.columns.count == 1, let column = relationship.columns.first,
            relationship.name == "\(column)Object"
        else { return nil }
        return column
    }

    // MARK: Earlier names

    /// Frees the names of columns and relationships that are gone.
    private mutating func forgetNamesOfGone(in entity: Entity) {
        guard var known = lock.entities[NameLock.key(entity.name)] else { return }
        let columns = Set(entity.attributes.filter { !$0.isHidden }.map { NameLock.key($0.name) })
        let relationships = Set(
            entity.relationships.flatMap { relationship in
                [relationship.name] + relationship.explanation.map(\.name)
            }.map { NameLock.key($0) })
        known.attributes = known.attributes.filter { columns.contains($0.key) }
        known.relationships = known.relationships.filter { relationships.contains($0.key) }
        lock.entities[NameLock.key(entity.name)] = known
    }

    private mutating func forgetNames(ofForeignKeysIn entity: Entity) {
        let key = NameLock.key(entity.name)
        let known = lock.entities[key]?.relationships ?? [:]
        for attribute in entity.attributes where sharesName(attribute, in: entity) {
            lock.entities[key]?.attributes[NameLock.key(attribute.name)] = nil
            for relationship in entity.relationships
            where relationship.holdsForeignKey && relationship.columns == [attribute.name] {
                let permanent = NameLock.key(self.key(of: relationship, among: known))
                lock.entities[key]?.relationships[permanent] = nil
            }
        }
    }

    // MARK: Problems

    /// Finds names that two properties have, or that no property can have: the lock may be edited, and annotations say anything.
    private mutating func checkProperties(of entity: Entity) {
        guard let names = lock.entities[NameLock.key(entity.name)] else { return }
        let all =
            names.attributes.map { ("the column \($0.key)", $0.value) }
            + names.relationships.map { ("the relationship \($0.key)", $0.value) }
        for (name, owners) in Dictionary(grouping: all, by: \.1).sorted(by: { $0.key < $1.key }) {
            let things = owners.map(\.0).sorted().joined(separator: " and ")
            if owners.count > 1 {
                problems.append("\(entity.name): \(things) have one property name, \(name)")
            } else if !SwiftName.isIdentifier(name) || ReservedNames.members.contains(name) {
                problems.append("\(entity.name): \(things) cannot have the property name \(name)")
            }
        }
    }

    private mutating func checkClasses() {
        let all =
            lock.entities.map { ("the table \($0.key)", $0.value.name) }
            + lock.enums.map { ("the type \($0.key)", $0.value.name) }
            + (lock.composites ?? [:]).map { ("the type \($0.key)", $0.value.name) }
        for (_, owners) in Dictionary(grouping: all, by: { $0.1.lowercased() }).sorted(by: { $0.key < $1.key })
        where owners.count > 1 {
            let things = owners.map(\.0).sorted().joined(separator: " and ")
            problems.append("\(things) have one class name, \(owners[0].1)")
        }
    }

    func className(of entity: Entity) -> String { className(of: entity.name) }

    func className(of entity: QualifiedName) -> String { lock.entities[NameLock.key(entity)]?.name ?? entity.name }

    func typeName(of type: QualifiedName) -> String {
        lock.enums[NameLock.key(type)]?.name ?? lock.composites?[NameLock.key(type)]?.name ?? type.name
    }

    func property(of field: String, in composite: QualifiedName) -> String {
        escaped(lock.composites?[NameLock.key(composite)]?.fields[NameLock.key(field)] ?? field)
    }

    func caseName(of label: String, in type: QualifiedName) -> String {
        escaped(lock.enums[NameLock.key(type)]?.cases[NameLock.key(label)] ?? label)
    }

    func property(of attribute: Attribute, in entity: Entity) -> String {
        escaped(lock.entities[NameLock.key(entity.name)]?.attributes[NameLock.key(attribute.name)] ?? attribute.name)
    }

    func property(of relationship: Relationship, in entity: Entity) -> String {
        escaped(
            lock.entities[NameLock.key(entity.name)]?.relationships[NameLock.key(key(of: relationship, in: entity))]
                ?? relationship.name)
    }

    /// The relationship's permanent name, whatever is added to the database: from schema, table and constraint.
    ///
    /// Duplicate foreign keys have one permanent name each; the lock may have any of them.
    func key(of relationship: Relationship, in entity: Entity) -> String {
        key(of: relationship, among: lock.entities[NameLock.key(entity.name)]?.relationships ?? [:])
    }

    private func key(of relationship: Relationship, among known: [String: String]) -> String {
        let keys = relationship.explanation.filter { $0.rule == .generated && $0.isGiven }.map(\.name)
        return keys.first { known[NameLock.key($0)] != nil } ?? keys.first ?? relationship.name
    }

    /// The relationships whose destination has a class as well, in a stable order.
    func relationships(of entity: Entity) -> [Relationship] {
        entity.relationships.filter { selected.contains($0.destination) }
    }

    private func escaped(_ name: String) -> String {
        ReservedNames.keywords.contains(name) ? "`\(name)`" : name
    }

    private mutating func nameTypes(_ schema: DatabaseSchema, _ entities: [Entity]) {
        var taken = NameSet(ReservedNames.types, ignoresCase: true)
        taken.formUnion(lock.entities.values.map(\.name))
        taken.formUnion(lock.enums.values.map(\.name))
        taken.formUnion((lock.composites ?? [:]).values.map(\.name))
        nameClasses(schema, entities, &taken)
        for type in schema.types {
            if case .composite(let fields) = type.definition { nameComposite(type.name, fields, &taken) }
            guard case .enumeration(let labels) = type.definition else { continue }
            let key = NameLock.key(type.name)
            if lock.enums[key] == nil {
                let base = SwiftName.upperCamel(type.name.name, ifEmpty: "Labels")
                let qualified = SwiftName.upperCamel("\(type.name.schema)_\(type.name.name)", ifEmpty: "Labels")
                lock.enums[key] = NameLock.Enum(name: taken.take([base, "\(base)Kind", qualified], else: base))
            }
            var cases = NameSet(ReservedNames.members.union(["unknown", "rawValue", "allCases", "neutralValue"]))
            let given = lock.enums[key]?.cases ?? [:]
            cases.formUnion(given.values)
            for label in labels where given[NameLock.key(label)] == nil {
                let base = SwiftName.lowerCamel(label, ifEmpty: "label")
                lock.enums[key]?.cases[NameLock.key(label)] = cases.take([base, "\(base)Label"], else: base)
            }
        }
    }

    /// Names the classes after their tables, in the singular: `orders` gives `Order`.
    ///
    /// If tables of several schemas have one name, the class name belongs to the table on the search path; the other
    /// tables' classes get their schema as a prefix.
    private mutating func nameClasses(_ schema: DatabaseSchema, _ entities: [Entity], _ taken: inout NameSet) {
        let named = entities.map { entity in
            let base = SwiftName.upperCamel(entity.name.name, ifEmpty: "Table")
            return (
                entity: entity.name, base: base,
                singular: SwiftName.upperCamel(entity.name.name, ifEmpty: "Table", isSingular: true)
            )
        }
        var schemas: [String: Set<String>] = [:]
        for (entity, _, singular) in named {
            schemas[singular.lowercased(), default: []].insert(
                NameLock.key(QualifiedName(schema: entity.schema, name: "")))
        }
        for (key, given) in lock.entities {
            // In the key, a dot separates schema and table.
            guard let known = schemas[given.name.lowercased()], !known.contains(where: key.hasPrefix) else { continue }
            schemas[given.name.lowercased()]?.insert(key)
        }
        // In a script without capitals a class may have the name of a property, which would hide it.
        var hidden: Set<String> = []
        for known in lock.entities.values {
            hidden.formUnion(known.attributes.values)
            hidden.formUnion(known.relationships.values)
        }
        // A table with a singular name takes precedence over a table with the plural.
        let sorted = named.filter { $0.base == $0.singular } + named.filter { $0.base != $0.singular }
        for (entity, base, singular) in sorted where lock.entities[NameLock.key(entity)] == nil {
            let qualified = SwiftName.upperCamel(
                "\(entity.schema)_\(entity.name)", ifEmpty: "Table", isSingular: true)
            let isMeant = schema.index(named: entity.name).map { schema.entities[$0].name == entity } ?? false
            let candidates: [String]
            if (schemas[singular.lowercased()]?.count ?? 0) > 1 {
                candidates = isMeant ? [singular, qualified] : [qualified]
            } else {
                candidates = [singular, ReservedNames.types.contains(singular) ? "\(singular)Object" : base]
            }
            let free = (candidates + ["\(singular)Object", qualified]).filter { !hidden.contains($0) }
            let name = taken.take(free, else: hidden.contains(singular) ? "\(singular)Object" : singular)
            lock.entities[NameLock.key(entity)] = NameLock.Class(name: name)
        }
    }

    private mutating func nameComposite(_ type: QualifiedName, _ fields: [Attribute], _ taken: inout NameSet) {
        let base = SwiftName.upperCamel(type.name, ifEmpty: "Composite")
        let qualified = SwiftName.upperCamel("\(type.schema)_\(type.name)", ifEmpty: "Composite")
        var composite =
            lock.composites?[NameLock.key(type)]
            ?? NameLock.Composite(name: taken.take([base, "\(base)Value", qualified], else: base))
        var properties = NameSet(
            ReservedNames.members.union(["composite", "neutralValue", "postgresValue", "postgresDataType"]))
        properties.formUnion(composite.fields.values)
        for field in fields where composite.fields[NameLock.key(field.name)] == nil {
            let base = SwiftName.lowerCamel(field.name, ifEmpty: "field")
            composite.fields[NameLock.key(field.name)] = properties.take([base, "\(base)Value"], else: base)
        }
        lock.composites = (lock.composites ?? [:]).merging([NameLock.key(type): composite]) { _, new in new }
    }

    private mutating func forgetNames(ofAnnotatedIn entity: Entity) {
        let known = lock.entities[NameLock.key(entity.name)]?.relationships ?? [:]
        for relationship in entity.relationships
        where relationship.explanation.contains(where: { $0.rule == .annotation && $0.isGiven }) {
            let key = NameLock.key(key(of: relationship, among: known))
            lock.entities[NameLock.key(entity.name)]?.relationships[key] = nil
        }
        for attribute in entity.attributes where attribute.property != nil {
            lock.entities[NameLock.key(entity.name)]?.attributes[NameLock.key(attribute.name)] = nil
        }
    }

    private mutating func nameProperties(of entity: Entity) {
        let key = NameLock.key(entity.name)
        guard var names = lock.entities[key] else { return }
        var taken = NameSet(ReservedNames.members)
        // In a script without capitals a property may have the name of a class, which it would hide.
        taken.formUnion(lock.entities.values.map(\.name))
        taken.formUnion(names.attributes.values)
        taken.formUnion(names.relationships.values)
        let unnamed = entity.attributes.filter { !$0.isHidden && names.attributes[NameLock.key($0.name)] == nil }
        for attribute in unnamed {
            guard let property = attribute.property else { continue }
            names.attributes[NameLock.key(attribute.name)] = property
            taken.formUnion(CollectionOfOne(property))
        }
        for attribute in unnamed where attribute.property == nil {
            let plain = SwiftName.lowerCamel(attribute.name, ifEmpty: "column")
            let base = lock.foreignKeys == .id && sharesName(attribute, in: entity) ? plain + "ID" : plain
            names.attributes[NameLock.key(attribute.name)] = taken.take([base, "\(base)Value"], else: base)
        }
        // All relationships, so that names do not depend on which classes are generated first; relationships of tables
        // come first.
        let sorted = entity.relationships.filter { !$0.isByView } + entity.relationships.filter(\.isByView)
        for relationship in sorted {
            let key = NameLock.key(self.key(of: relationship, among: names.relationships))
            guard names.relationships[key] == nil else { continue }
            var candidates = Self.candidates(relationship)
            if lock.foreignKeys == .id, let column = Self.column(sharingNameOf: relationship) {
                candidates.insert(SwiftName.lowerCamel(column, ifEmpty: "relationship"), at: 0)
            }
            names.relationships[key] = taken.take(candidates, else: candidates[0])
        }
        lock.entities[key] = names
    }

    /// `emailSet` becomes `emails`; if that is taken, it stays `emailSet`.
    private static func candidates(_ relationship: Relationship) -> [String] {
        let rule = relationship.explanation.first { $0.isGiven && $0.name == relationship.name }?.rule
        let whole = SwiftName.lowerCamel(relationship.name, ifEmpty: "relationship")
        var candidates = [whole, whole + (relationship.isToMany ? "Objects" : "Object")]
        if relationship.isToMany, rule == .tableName || rule == .columnName, relationship.name.hasSuffix("Set") {
            let base = SwiftName.lowerCamel(String(relationship.name.dropLast(3)), ifEmpty: "member")
            candidates.insert(EnglishNoun.plural(base), at: 0)
        }
        return candidates
    }
}

/// Names in use.
private struct NameSet {
    private var names: Set<String>
    private let ignoresCase: Bool

    /// Creates a set; file names must differ in more than case.
    init(_ names: Set<String>, ignoresCase: Bool = false) {
        self.ignoresCase = ignoresCase
        self.names = []
        formUnion(names)
    }

    mutating func formUnion(_ names: some Sequence<String>) {
        for name in names { self.names.insert(ignoresCase ? name.lowercased() : name) }
    }

    /// The first free name, else the base with a number.
    mutating func take(_ candidates: [String], else base: String) -> String {
        for candidate in candidates where insert(candidate) { return candidate }
        var number = 2
        while !insert("\(base)\(number)") { number += 1 }
        return "\(base)\(number)"
    }

    private mutating func insert(_ name: String) -> Bool {
        names.insert(ignoresCase ? name.lowercased() : name).inserted
    }
}
