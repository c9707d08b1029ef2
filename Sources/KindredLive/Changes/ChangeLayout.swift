import Kindred
import KindredPostgres
import KindredSchema

/// Which entities a table's records are about, and how keys are made of their texts.
struct ChangeLayout: Sendable {
    /// An entity that shows a table's rows: the table's own entity, or the entity of a table that it inherits from.
    struct Target: Sendable {
        let name: QualifiedName
        /// The columns of the entity's key that have texts in records.
        let key: [String]
        let types: [PostgresDataType]
        /// The table, where it is a part of the entity's key.
        let table: PostgresValue?

        /// The key of a row; nil if it cannot be made from the record.
        func key(of texts: ArraySlice<String>, in columns: [String]) -> ObjectKey? {
            if columns.count == 1, key.count == 1, table == nil, columns == key, types[0].isInteger,
                let text = texts.first
            {
                return Int64(text).map { .integer($0) }
            }
            var values: [PostgresValue] = []
            for (name, type) in zip(key, types) {
                guard let place = columns.firstIndex(of: name),
                    let value = try? PostgresValue(text: texts[texts.startIndex + place], type: type)
                else { return nil }
                values.append(value)
            }
            guard !values.isEmpty else { return nil }
            if let table { values.append(table) }
            return ObjectKey(values)
        }
    }

    /// By the table's OID.
    let targets: [UInt32: [Target]]
    /// The columns of keys in records, by table.
    let keys: [UInt32: [String]]
    /// The entities that a table's rows were of in earlier models: it was renamed, or dropped and made anew.
    var former: [UInt32: Set<QualifiedName>] = [:]

    /// - Parameter earlier: the layout of the model before.
    init(targets: [UInt32: [Target]], keys: [UInt32: [String]], after earlier: ChangeLayout? = nil) {
        self.targets = targets
        self.keys = keys
        guard let earlier else { return }
        former = earlier.former
        for (oid, known) in earlier.targets { former[oid, default: []].formUnion(known.map(\.name)) }
        for (oid, names) in former {
            let left = names.subtracting(targets[oid]?.map(\.name) ?? [])
            former[oid] = left.isEmpty ? nil : left
        }
    }

    /// The layout of a model's tables.
    ///
    /// - Parameters:
    ///   - tenants: the models of tenants by the names of their schemas.
    ///   - earlier: the layout of the model before.
    init(
        _ runtime: SchemaRuntime, _ tables: [UInt32: TrackedTable], tenants: [ServerText: SchemaRuntime] = [:],
        after earlier: ChangeLayout? = nil
    ) {
        var targets: [UInt32: [Target]] = [:]
        for entity in runtime.entities {
            let tables = entity.rowTable.map { Array($0.tables.names.keys) } ?? [entity.entity.oid]
            for oid in tables { targets[oid, default: []].append(Target(entity, at: oid, as: entity.name)) }
        }
        if !tenants.isEmpty {
            for (oid, table) in tables {
                guard let name = table.name, let model = tenants[ServerText(name.schema)] else { continue }
                targets[oid] = Target.all(of: oid, name, in: model)
            }
        }
        self.init(targets: targets, keys: tables.mapValues(\.key), after: earlier)
    }
}

extension ChangeLayout.Target {
    fileprivate init(_ entity: EntityRuntime, at table: UInt32, as name: QualifiedName) {
        let position = entity.referencedKey
        self.init(
            name: name, key: position.map { entity.entity.attributes[$0].name },
            types: position.map { entity.resultTypes[$0] },
            table: entity.rowTable == nil ? nil : .integer(Int64(table)))
    }

    /// The entities of a tenant's model that show a table's rows, by their names in the tenant's schema.
    fileprivate static func all(of table: UInt32, _ name: QualifiedName, in model: SchemaRuntime) -> [Self] {
        model.entities.filter { entity in
            guard entity.name.isTenants else { return false }
            // A model with tables that inherit is no other tenant's, and has the tenant's own numbers.
            return entity.rowTable.map { $0.tables.names.keys.contains(table) }
                ?? (ServerText(entity.name.name) == ServerText(name.name))
        }.map { Self($0, at: table, as: QualifiedName(schema: name.schema, name: $0.name.name)) }
    }
}
