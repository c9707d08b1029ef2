public import KindredPostgres

/// Reads a database's catalog.
public enum SchemaReader {
    /// Reads the whole catalog in one round trip, under one snapshot, and makes the model of it.
    ///
    /// Sends a batch of SELECTs inside a REPEATABLE READ, READ ONLY transaction; where there are views, a second round
    /// trip asks where their columns come from. Tells the client of the database's enums, domains and arrays, so that
    /// their values can be read.
    ///
    /// - Throws: `PostgresError`; ``SchemaError`` for an annotation that is malformed, names nothing or clashes.
    public static func read(from client: PostgresClient) async throws -> DatabaseSchema {
        let catalog = try await readCatalog(from: client)
        registerTypes(of: catalog, in: client.types)
        return try DatabaseSchema(catalog: catalog)
    }

    private static let texts = [
        CatalogQueries.begin, CatalogQueries.session, CatalogQueries.relations, CatalogQueries.columns,
        CatalogQueries.constraints, CatalogQueries.indexes, CatalogQueries.types, CatalogQueries.enumLabels,
        CatalogQueries.comments, CatalogQueries.commit,
    ].map { Statement(text: StatementText($0), resultFormat: .binary) }

    static func readCatalog(from client: PostgresClient) async throws -> Catalog {
        let results = try await client.executeBatch(texts)
        var catalog = Catalog()
        for session in try CatalogReader.rows(results[1], { (try $0.text(0), try $0.texts(1)) }) {
            (catalog.role, catalog.searchPath) = session
        }
        catalog.relations = try CatalogReader.rows(results[2], relation)
        catalog.columns = try CatalogReader.rows(results[3], column)
        catalog.constraints = try CatalogReader.rows(results[4], constraint)
        catalog.indexes = try CatalogReader.rows(results[5]) { row in
            Catalog.Index(
                relation: try row.oid(0),
                columns: try row.numbers(1),
                keyCount: Int(try row.integer(2)),
                isValid: try row.bool(3),
                hasExpressions: try row.bool(4),
                predicate: try row.optionalText(5)
            )
        }
        catalog.types = try CatalogReader.rows(results[6], type)
        catalog.enumLabels = try CatalogReader.rows(results[7]) { row in
            Catalog.EnumLabel(type: try row.oid(0), position: try row.float(1), label: try row.text(2))
        }
        catalog.comments = try CatalogReader.rows(results[8]) { row in
            let object = try row.oid(0)
            let number = try row.number(1)
            if let name = try row.optionalText(3) {
                return .init(.constraint(object, name: name, relation: try row.oid(4)), try row.text(2))
            }
            return .init(number == 0 ? .relation(object) : .column(object, number), try row.text(2))
        }
        return catalog
    }

    private static func relation(_ row: CatalogReader) throws -> Catalog.Relation {
        var privileges: Entity.Privileges = []
        if try row.bool(7) { privileges.insert(.insert) }
        if try row.bool(8) { privileges.insert(.update) }
        if try row.bool(9) { privileges.insert(.delete) }
        return Catalog.Relation(
            oid: try row.oid(0),
            schema: try row.text(1),
            name: try row.text(2),
            kind: Character(Unicode.Scalar(try row.letter(3))),
            isPartition: try row.bool(4),
            isReadable: try row.bool(5),
            isReachable: try row.bool(6),
            privileges: privileges,
            isUpdatable: try row.bool(10)
        )
    }

    private static func column(_ row: CatalogReader) throws -> Catalog.Column {
        let isGenerated = try row.letter(9) != 0
        return Catalog.Column(
            relation: try row.oid(0),
            number: try row.number(1),
            name: try row.text(2),
            type: try row.oid(3),
            typeModifier: Int32(truncatingIfNeeded: try row.integer(4)),
            typeName: try row.text(5),
            isNotNull: try row.bool(6),
            hasDefault: try row.bool(7) && !isGenerated,
            identity: try row.letter(8),
            isGenerated: isGenerated,
            isGranted: try row.bool(10)
        )
    }

    private static func constraint(_ row: CatalogReader) throws -> Catalog.Constraint {
        guard let kind = Catalog.Constraint.Kind(rawValue: try row.letter(3)) else {
            throw SchemaError(.unreadableCatalog, "The catalog has a constraint of an unknown kind")
        }
        // `[1, 2]`, or NULL, or nothing before PostgreSQL 15.
        let setColumns = try row.optionalText(8)?.split { !$0.isNumber }.compactMap { Int16($0) } ?? []
        return Catalog.Constraint(
            oid: try row.oid(0),
            relation: try row.oid(1),
            name: try row.text(2),
            kind: kind,
            columns: try row.numbers(4),
            target: try row.oid(5),
            targetColumns: try row.numbers(6),
            deleteAction: Character(Unicode.Scalar(try row.letter(7))),
            deleteSetColumns: setColumns,
            parent: try row.oid(9),
            isEnforced: try row.bool(10),
            hasPeriod: try row.bool(11),
            isMatchFull: try row.text(12) == "f"
        )
    }

    private static func type(_ row: CatalogReader) throws -> Catalog.TypeRow {
        Catalog.TypeRow(
            oid: try row.oid(0),
            schema: try row.text(1),
            name: try row.text(2),
            kind: Character(Unicode.Scalar(try row.letter(3))),
            category: Character(Unicode.Scalar(try row.letter(4))),
            base: try row.oid(5),
            baseModifier: Int32(truncatingIfNeeded: try row.integer(6)),
            element: try row.oid(7),
            array: try row.oid(8),
            relation: try row.oid(9),
            isNotNull: try row.bool(10),
            hasDefault: try row.bool(11)
        )
    }

    /// Enums and strings of extensions have a binary form that is their text; arrays and domains are made of others.
    private static func registerTypes(of catalog: Catalog, in registry: TypeRegistry) {
        for type in catalog.types {
            let id = PostgresDataType(rawValue: type.oid)
            switch type.kind {
            case UInt8(ascii: "e"): registry.register(id, as: .textLike)
            case UInt8(ascii: "d"): registry.register(id, as: .domain(base: PostgresDataType(rawValue: type.base)))
            default:
                if type.element != 0 {
                    registry.register(id, as: .array(element: PostgresDataType(rawValue: type.element)))
                } else if type.name == "citext" {
                    registry.register(id, as: .textLike)
                }
            }
        }
    }
}
