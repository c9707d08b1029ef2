import TestSupport

@testable import KindredSchema

/// Random catalogs whose names are as likely to meet as possible.
struct RandomCatalog {
    private static let schemas = ["public", "audit", "a", "a_b"]
    private static let tables = [
        "person", "email", "node", "title", "b_c", "c", "Person", "emailSet", "rel", "person_title_rel", "tag", "t e\"",
        "\u{E9}", "e\u{301}", "person_email", "public_email_c",
    ]
    private static let columns = [
        "id", "ID", "person_id", "parent_id", "email_id", "title_id", "tagid", "TagId", "email", "person", "emailSet",
        "name", "node", "code", "personObject", "owner__id", "public_email_c", "a_b_c_c_2", "\u{E9}", "e\u{301}", "x.y",
    ]
    private static let constraints = [
        "c", "c_2", "owner", "owner__emails", "__emails", "owner__", "parent__children", "a__b__c", "person",
        "emailSet",
        "titles", "people", "email_person_id_fkey", "fk_1", "FKabc", "FK1a", "d", "b_c_d", "id", "public_email_c",
    ]

    private struct TableShape {
        var name: String
        var columns: [String]
        var uniqueKeys: [[String]]
        var constraintNames: Set<String>
    }

    var generator: SeededGenerator
    private(set) var test = TestCatalog()
    private var shapes: [TableShape] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        test.modify { $0.searchPath = ["public", "a"] }
        for _ in 0..<Int.random(in: 1...8, using: &generator) { addTable() }
        for _ in 0..<Int.random(in: 0...14, using: &generator) { addForeignKey() }
        for _ in 0..<Int.random(in: 0...2, using: &generator) { addHelper() }
        if generator.chance(30) { addPartitions() }
        if generator.chance(30) { addAnnotation() }
    }

    var catalog: Catalog { test.catalog }

    /// The same rows in another order.
    mutating func shuffled() -> Catalog {
        var catalog = test.catalog
        catalog.relations.shuffle(using: &generator)
        catalog.columns.shuffle(using: &generator)
        catalog.constraints.shuffle(using: &generator)
        catalog.indexes.shuffle(using: &generator)
        catalog.comments.shuffle(using: &generator)
        catalog.projections.shuffle(using: &generator)
        catalog.viewOrigins.shuffle(using: &generator)
        return catalog
    }

    mutating func addTable() {
        let name = "\(generator.pick(Self.schemas)).\(generator.pick(Self.tables))"
        // Byte by byte: the pool has two names that Swift takes for one.
        if shapes.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return }
        var columns: [String] = []
        for column in generator.some(Self.columns, atMost: 8) { columns.append(column) }
        let required = columns.map { generator.chance(50) ? $0 + "!" : $0 }
        let primaryKey = generator.chance(85) ? generator.some(columns, atMost: 3) : nil
        test.table(name, required, primaryKey: primaryKey, kind: generator.chance(10) ? "p" : "r")
        var keys = primaryKey.map { [$0] } ?? []
        for number in 0..<Int.random(in: 0...2, using: &generator) {
            let unique = generator.some(columns, atMost: 3)
            if generator.chance(70) {
                test.unique("u\(number)", of: name, unique)
            } else {
                let isValid = generator.chance(80)
                test.index(of: name, unique) { $0.isValid = isValid }
            }
            keys.append(unique)
        }
        shapes.append(TableShape(name: name, columns: columns, uniqueKeys: keys, constraintNames: []))
    }

    mutating func addForeignKey() {
        guard let source = shapes.indices.randomElement(using: &generator),
            let target = shapes.indices.filter({ !shapes[$0].uniqueKeys.isEmpty }).randomElement(using: &generator)
        else { return }
        let targetColumns = generator.pick(shapes[target].uniqueKeys)
        guard shapes[source].columns.count >= targetColumns.count else { return }
        let columns = Array(shapes[source].columns.shuffled(using: &generator).prefix(targetColumns.count))
        addForeignKey(source, columns, to: target, targetColumns)
    }

    private mutating func addForeignKey(_ source: Int, _ columns: [String], to target: Int, _ targetColumns: [String]) {
        var name = generator.pick(Self.constraints)
        if generator.chance(30) { name = "\(shapes[source].name.split(separator: ".")[1])_\(columns[0])_fkey" }
        while !shapes[source].constraintNames.insert(name).inserted { name += "1" }
        let action = generator.pick(Array("arcnd"))
        test.foreignKey(name, of: shapes[source].name, columns, to: shapes[target].name, targetColumns) {
            $0.deleteAction = action.asciiValue ?? 0
        }
        // Now and then a key that repeats it, its columns in another order.
        if generator.chance(10) {
            let order = Array(columns.indices).shuffled(using: &generator)
            let repeated = name + "_again"
            shapes[source].constraintNames.insert(repeated)
            test.foreignKey(
                repeated,
                of: shapes[source].name,
                order.map { columns[$0] },
                to: shapes[target].name,
                order.map { targetColumns[$0] }
            )
        }
    }

    /// A table between two others, or between a table and itself.
    private mutating func addHelper() {
        let keyed = shapes.indices.filter { !shapes[$0].uniqueKeys.isEmpty }
        guard let first = keyed.randomElement(using: &generator), let second = keyed.randomElement(using: &generator)
        else { return }
        let name = "\(generator.pick(Self.schemas)).\(generator.pick(["rel", "link", "person_title_rel"]))"
        if shapes.contains(where: { $0.name == name }) { return }
        let targets = [generator.pick(shapes[first].uniqueKeys), generator.pick(shapes[second].uniqueKeys)]
        let shared = generator.chance(20) ? 1 : 0
        let near = targets[0].indices.map { "n\($0)" }
        let far = targets[1].indices.map { $0 < shared ? "n\($0)" : "f\($0)" }
        let both = near + far.filter { !near.contains($0) }
        let hasSurrogate = generator.chance(40)
        let columns = (hasSurrogate ? ["sid"] : []) + both + (generator.chance(40) ? ["payload"] : [])
        test.table(name, columns.map { $0 + "!" }, primaryKey: hasSurrogate ? ["sid"] : both)
        if hasSurrogate { test.unique("u", of: name, both.shuffled(using: &generator)) }
        shapes.append(TableShape(name: name, columns: columns, uniqueKeys: [both], constraintNames: []))
        addForeignKey(shapes.count - 1, near, to: first, targets[0])
        addForeignKey(shapes.count - 1, far, to: second, targets[1])
    }

    /// Partitions that repeat their parents' keys, and a partition with a key of its own.
    private mutating func addPartitions() {
        let keys = test.catalog.constraints.filter { $0.kind == .foreignKey }
        for (number, key) in keys.enumerated() where generator.chance(20) {
            let part = "public.partition_\(number)"
            test.table(part, ["x", "y"], primaryKey: nil) { $0.isPartition = true }
            let oid = test.oid(of: part)
            var copy = key
            copy.oid = test.oid()
            copy.relation = oid
            if generator.chance(80) { copy.parent = key.oid }
            test.modify { $0.constraints.append(copy) }
            if copy.parent == 0 {
                let place = Catalog.PartitionKey(
                    constraint: copy.oid, source: key.relation, columns: key.columns, target: key.target,
                    targetColumns: key.targetColumns)
                test.modify { $0.partitionKeys.append(place) }
            }
            var reference = key
            reference.oid = test.oid()
            reference.target = oid
            reference.parent = key.oid
            test.modify { $0.constraints.append(reference) }
        }
    }

    private mutating func addAnnotation() {
        guard let key = test.catalog.constraints.filter({ $0.kind == .foreignKey }).randomElement(using: &generator)
        else { return }
        let names = ["owner", "emails", "emailSet", "person", "boss", "zz"]
        var members: [String] = []
        if generator.chance(60) { members.append("\"name\": \"\(generator.pick(names))\"") }
        if generator.chance(60) { members.append("\"inverse\": \"\(generator.pick(names))\"") }
        if generator.chance(20) { members.append("\"deleteRule\": \"cascade\"") }
        if generator.chance(10) { members.append("\"ignore\": true") }
        let text = "@kindred {\(members.joined(separator: ", "))}"
        test.modify {
            $0.comments.append(.init(object: .constraint(key.oid, name: key.name, relation: key.relation), text: text))
        }
    }

    /// A view of a table or of another view, with some of its columns.
    mutating func addView() {
        guard let base = shapes.randomElement(using: &generator), !base.columns.isEmpty else { return }
        let name = "\(generator.pick(Self.schemas)).\(generator.pick(Self.tables + ["v", "w", "person_v"]))"
        if shapes.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return }
        let shown = base.columns.filter { _ in generator.chance(80) }
        if shown.isEmpty { return }
        test.view(
            name, of: base.name, shown, isProjection: generator.chance(80), kind: generator.chance(20) ? "m" : "v")
        shapes.append(TableShape(name: name, columns: shown, uniqueKeys: [], constraintNames: []))
    }

    mutating func removeAnnotations() {
        test.modify { $0.comments.removeAll() }
    }
}
