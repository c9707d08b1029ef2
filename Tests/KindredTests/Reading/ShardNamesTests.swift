import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

/// The constraint, table and column of a distributed server's error.
@Suite struct ShardNamesTests {
    private static func entity(_ name: String, _ columns: [String], constraints: Set<ServerText>) -> Entity {
        Entity(
            name: QualifiedName(schema: "public", name: name), kind: .table, oid: 1,
            attributes: columns.enumerated().map {
                Attribute(name: $1, number: $0 + 1, typeName: "text", type: .text, isNotNull: true)
            },
            primaryKey: ["id"], constraintNames: constraints)
    }

    private let runtime = SchemaRuntime(
        DatabaseSchema(
            entities: [
                entity("person", ["id", "name"], constraints: ["person_pkey", "person_name_key", "person_check_7"]),
                entity(
                    "email", ["id", "person_id"],
                    constraints: ["email_pkey", "email_person_id_fkey", "email_person_id_fkey_1", "person_name_key_8"]),
            ],
            searchPath: ["public"]))

    private func error(
        _ state: SQLState, _ message: String, table: String? = nil, column: String? = nil, constraint: String? = nil
    ) -> PostgresError {
        PostgresError(
            .server, "refused", sqlState: state,
            server: ServerMessage(
                severity: "ERROR", sqlState: state, message: message, schema: table.map { _ in "public" }, table: table,
                column: column, constraint: constraint))
    }

    private func unique(_ constraint: String, table: String? = nil) -> PostgresError {
        error(
            .uniqueViolation, "duplicate key value violates unique constraint \"\(constraint)\"", table: table,
            constraint: table.map { _ in constraint })
    }

    /// The table and the constraint that the error names to an entity.
    private func names(_ error: PostgresError, _ entity: String) throws -> [String?] {
        let named = error.naming(try runtime.entity(named: entity))
        return [named.server?.table, named.server?.constraint]
    }

    @Test func theNumberOfAShardIsCutOff() throws {
        #expect(
            try names(unique("person_pkey_102008", table: "person_102008"), "person") == ["person", "person_pkey"])
        #expect(try names(unique("person_name_key_102008"), "person") == ["person", "person_name_key"])
        let check = error(
            .checkViolation,
            "new row for relation \"person_102008\" violates check constraint \"person_check_7_102008\"")
        #expect(try names(check, "person") == ["person", "person_check_7"])
        let key = error(
            .foreignKeyViolation,
            "insert or update on table \"email_102010\" violates foreign key constraint \"email_person_id_fkey_1_102010\""
        )
        #expect(try names(key, "email") == ["email", "email_person_id_fkey_1"])
    }

    @Test func fieldsThatAreLeftOutComeFromTheMessage() throws {
        #expect(try names(unique("person_pkey"), "person") == ["person", "person_pkey"])
        let null = error(
            .notNullViolation,
            "null value in column \"name\" of relation \"person_102008\" violates not-null constraint")
        let named = null.naming(try runtime.entity(named: "person"))
        #expect(named.server?.column == "name" && named.server?.table == "person")
    }

    @Test func aWholeNameOfTheModelStays() throws {
        for (name, table) in [("person_check_7", "person"), ("email_person_id_fkey_1", "email")] {
            let refused = error(.checkViolation, "refused", table: table, constraint: name)
            #expect(try names(refused, table) == [table, name])
        }
        // That of another table.
        #expect(try names(unique("person_name_key_8"), "person") == [nil, nil])
    }

    @Test func whatIsNoConstraintOfTheTableStays() throws {
        for (constraint, table) in [
            ("email_pkey_102008", "person_102008"), ("person_pkey_102008", "other_102008"),
            ("person_2024_pkey", "person_2024"), ("person_pkey_", "person"), ("person_pkey_1a", "person"),
            ("unknown", "person"),
        ] {
            #expect(try names(unique(constraint, table: table), "person") == [table, constraint])
        }
        let inMessage = error(
            .checkViolation, "new row for relation \"other_1\" violates check constraint \"person_check_7_1\"")
        #expect(try names(inMessage, "person") == [nil, nil])
        // Another class of errors, and a message in other quotes.
        let text = error(.syntaxError, "syntax error at or near \"person_pkey_102008\"")
        #expect(try names(text, "person") == [nil, nil])
        #expect(try names(error(.uniqueViolation, "doppelter Schlüssel »person_pkey_1«"), "person") == [nil, nil])
    }

    @Test func theTableOfADeletionIsFound() throws {
        let message = """
            update or delete on table "person_102008" violates foreign key constraint "email_person_id_fkey_102010" on table \
            "email_102010"
            """
        for fields in [true, false] {
            let refused = error(
                .foreignKeyViolation, message, table: fields ? "email_102010" : nil,
                constraint: fields ? "email_person_id_fkey_102010" : nil)
            let named = refused.naming(in: runtime).server
            #expect(named?.schema == "public" && named?.table == "email")
            #expect(named?.constraint == "email_person_id_fkey")
        }
        let exact = error(.foreignKeyViolation, message, table: "email", constraint: "email_person_id_fkey_102010")
        #expect(exact.naming(in: runtime).server == exact.server)
    }
}
