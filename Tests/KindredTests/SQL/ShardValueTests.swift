import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

/// The equality beside a set of keys that share the value by which their table is distributed.
@Suite struct ShardValueTests {
    private static func entity(
        _ name: String, _ columns: [String], key: [String], partitions: [String] = [],
        _ relationships: [Relationship] = []
    ) -> Entity {
        Entity(
            name: QualifiedName(schema: "public", name: name), kind: .table, oid: 1,
            attributes: columns.enumerated().map {
                Attribute(name: $1, number: $0 + 1, typeName: "integer", type: .int4, isNotNull: true)
            },
            primaryKey: key, relationships: relationships, partitionColumns: partitions)
    }

    private let runtime = SchemaRuntime(
        DatabaseSchema(
            entities: [
                entity("task", ["tenant", "id", "place"], key: ["tenant", "id"], partitions: ["tenant"]),
                entity("note", ["tenant", "id"], key: ["tenant", "id"]),
                entity("part", ["tenant", "id"], key: ["tenant", "id"], partitions: ["tenant", "id"]),
                entity("log", ["id"], key: ["id"], partitions: ["id"]),
            ],
            searchPath: ["public"]))

    private let one = [ObjectKey([7, 1]), ObjectKey([7, 2])]
    private let several = [ObjectKey([7, 1]), ObjectKey([8, 2])]

    @Test func rowsOfOnePartitionAreFoundWithAnEquality() throws {
        let task = try runtime.entity(named: "task")
        #expect(task.shardColumns == [0])
        let keys =
            #"SELECT t."tenant", t."id", t."place" FROM "public"."task" AS t "#
            + #"WHERE (t."tenant", t."id") IN (SELECT * FROM unnest($1, $2))"#
        for _ in 0..<2 {
            // The two shapes do not take each other's text.
            let found = try KeyStatements(entity: task).select(one)
            #expect(found.text.text == keys + #" AND t."tenant" = $3"# && found.bindings.count == 3)
            let all = try KeyStatements(entity: task).select(several)
            #expect(all.text.text == keys && all.bindings.count == 2)
        }
        #expect(
            try KeyStatements(entity: task).select(one).text
                === KeyStatements(entity: task).select([ObjectKey([9, 1])]).text)
    }

    /// The text is kept by its shape, which does not say the column.
    @Test func theEqualityIsAlwaysThatOfTheSameColumn() throws {
        let part = try runtime.entity(named: "part")
        let keys = [ObjectKey([7, 1]), ObjectKey([8, 1])]
        #expect(
            try KeyStatements(entity: part).select([ObjectKey([7, 1])]).text.text.hasSuffix(#" AND t."tenant" = $3"#))
        #expect(try KeyStatements(entity: part).select(keys).text.text.hasSuffix("unnest($1, $2))"))
    }

    @Test func theEqualityStandsBehindTheOtherParameters() throws {
        let task = try runtime.entity(named: "task")
        let rows = one.map { VersionedKey(key: $0, version: nil) }
        let equality = #"(t."tenant", t."id") IN (SELECT * FROM unnest($1, $2)) AND t."tenant" = $3"#
        let deletion = try DeletionStatements.delete(task, rows).text.text
        #expect(
            deletion == #"WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."task" AS t WHERE "# + equality
                + #" ORDER BY t."tenant", t."id" FOR UPDATE OF t) DELETE FROM "public"."task" AS t WHERE "# + equality
                + " AND (SELECT count(*) FROM locked) = $4")
        #expect(
            try LockStatements.free(task, one).text.text.hasSuffix(equality + " FOR NO KEY UPDATE OF t SKIP LOCKED"))
        let both = try DeletionStatements.delete([(task, one), (task, several)]).text.text
        #expect(both.contains(equality + " RETURNING 1") && both.contains("unnest($4, $5)) RETURNING 1"))
    }

    @Test func otherTablesKeepTheirStatements() throws {
        let note = try runtime.entity(named: "note")
        #expect(note.shardColumns == [])
        #expect(try KeyStatements(entity: note).select(one).text.text.hasSuffix("IN (SELECT * FROM unnest($1, $2))"))
        #expect(try KeyStatements(entity: note).select(one).text === KeyStatements(entity: note).select(several).text)
        // A set of single values is as good as an equality.
        let log = try runtime.entity(named: "log")
        #expect(try KeyStatements(entity: log).select([.integer(1)]).text.text.hasSuffix(#"WHERE t."id" = ANY($1)"#))
    }

    /// Two composite keys of one table share a column, such as a tenant's.
    @Test func aColumnThatAForeignKeyHoldsTooIsOne() throws {
        let order = try ConditionFixture.entity("order")
        #expect(try SchemaRuntime(ConditionFixture.schema).entity(named: "order").shardColumns == [])
        let line = try ConditionFixture.entity("line")
        let keyed = Entity(
            name: line.name, kind: .table, oid: 2, attributes: line.attributes, primaryKey: ["tenant", "id"],
            relationships: line.relationships)
        let runtime = SchemaRuntime(DatabaseSchema(entities: [order, keyed], searchPath: ["public"]))
        let found = try runtime.entity(named: "line")
        #expect(found.shardColumns == [1])
        let owners = [ObjectKey(["a", 3]), ObjectKey(["a", 4])]
        let lines = try #require(try runtime.entity(named: "order").relationship(named: "lines"))
        #expect(
            try RelationshipQuery(lines).statement(for: owners).text.text.hasSuffix(
                #"(t."tenant", t."order_no") IN (SELECT * FROM unnest($1, $2)) AND t."tenant" = $3"#))
    }
}
