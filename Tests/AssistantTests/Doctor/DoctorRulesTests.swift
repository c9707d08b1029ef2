import KindredSchema
import KindredTesting
import Testing

@testable import KindredDoctor

/// Each rule on a schema that breaks it, and on the same schema after its repair.
@Suite struct DoctorRulesTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let rule: String
        let sql: String
        /// The keys of the rule's findings.
        let keys: [String]
        var level: DoctorLevel?
        /// Whether SQL can repair it.
        var isRepairable = true
        /// The part of the message or the facts that is looked for.
        var text = ""
        var tenantColumn: String?
        var testDescription: String { "\(rule) \(keys.joined(separator: " "))" }
    }

    @Test func everyRuleHasAnExample() {
        let others: Set<String> = ["K101", "K104", "K204", "K407", "K408", "K409", "K416", "K504", "K505"]
        #expect(Set(Self.examples.map(\.rule)).union(others) == Set(DoctorRule.all.map(\.id)))
    }

    @Test(.database, arguments: examples) func aRuleFindsAndItsRepairMakesItGoAway(_ example: Example) async throws {
        try await withDoctorClient { client in
            try await client.runScript(example.sql)
            let found = try await client.allFindings(tenantColumn: example.tenantColumn).findings(of: example.rule)
            #expect(found.map(\.ignoreKey) == example.keys)
            if let level = example.level { #expect(found.first?.level == level) }
            let texts = found.flatMap { [$0.message] + $0.facts.map(\.value) }
            #expect(example.text.isEmpty || texts.contains { $0.contains(example.text) }, "\(texts)")
            #expect(found.allSatisfy { !$0.facts.isEmpty })
            #expect(found.allSatisfy { $0.repair.isEmpty != example.isRepairable }, "\(found.map(\.repair))")
            guard example.isRepairable else { return }
            for finding in found { try await client.repair(finding) }
            #expect(
                try await client.allFindings(tenantColumn: example.tenantColumn).findings(of: example.rule).map(
                    \.ignoreKey) == [])
        }
    }

    @Test(.database) func anInvalidIndexIsBuiltAnewAndALeftoverDropped() async throws {
        try await withDoctorClient { client in
            try await client.runScript("CREATE TABLE t (a integer); INSERT INTO t VALUES (1), (1)")
            for name in ["t_a", "t_a_ccnew"] {
                _ = try? await client.query(SQL(unsafeRaw: "CREATE UNIQUE INDEX CONCURRENTLY \(name) ON t (a)"))
            }
            let found = try await client.allFindings().findings(of: "K105")
            #expect(
                found.map(\.repair) == [
                    [#"REINDEX INDEX CONCURRENTLY "public"."t_a""#], [#"DROP INDEX CONCURRENTLY "public"."t_a_ccnew""#],
                ])
            try await client.query("DELETE FROM t")
            for finding in found { try await client.repair(finding) }
            #expect(try await client.allFindings().findings(of: "K105").isEmpty)
        }
    }

    @Test(.database) func namesChosenByARepairAreTheNamesOfToday() async throws {
        try await withDoctorClient { client in
            try await client.runScript(
                """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE message (id integer PRIMARY KEY, sender_id integer REFERENCES person,
                    receiver_id integer REFERENCES person, reply_to integer REFERENCES message);
                COMMENT ON CONSTRAINT message_sender_id_fkey ON message IS '@kindred {"deleteRule": "cascade"} it''s \\ kept';
                """)
            let before = try await SchemaReader.read(from: client)
            for finding in try await client.allFindings().findings(of: "K206") { try await client.repair(finding) }
            let after = try await SchemaReader.read(from: client)
            for (old, new) in zip(before.entities, after.entities) {
                #expect(old.relationships.map(\.name) == new.relationships.map(\.name))
                #expect(old.relationships.map(\.deleteRule) == new.relationships.map(\.deleteRule))
            }
            let comment = try await client.query(
                "SELECT obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE conname = 'message_sender_id_fkey'"
            )
            #expect(
                try comment.first?.decode(0, as: String.self)
                    == #"@kindred {"deleteRule":"cascade","inverse":"sender_messageSet","name":"sender"} it's \ kept"#)
        }
    }

    /// The rule names as owner of a contested name whichever relationship the model gives it to.
    @Test(.database) func aContestedNameIsSaidToBelongToWhatHasIt() async throws {
        try await withDoctorClient { client in
            try await client.runScript(
                """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE film (id integer PRIMARY KEY, director_id integer REFERENCES person,
                    person_id integer REFERENCES person);
                CREATE TABLE role (person_id integer REFERENCES person, film_id integer REFERENCES film,
                    PRIMARY KEY (person_id, film_id));
                """)
            let schema = try await SchemaReader.read(from: client)
            let found = try await client.allFindings().findings(of: "K206")
            #expect(found.map(\.ignoreKey) == ["K206:public.film.person", "K206:public.person.filmSet"])
            #expect(try schema.entity(named: "film").relationship(named: "person")?.columns == ["person_id"])
            #expect(found.first?.message.hasSuffix("of which only person (film_person_id_fkey) has it") == true)
            #expect(try schema.entity(named: "person").relationship(named: "filmSet") == nil)
            #expect(found.last?.message.hasSuffix("claim the name filmSet, so that none has it") == true)
            #expect(found.last?.facts.first?.value.contains("role_filmSet (role)") == true)
            for finding in found { try await client.repair(finding) }
            #expect(try await client.allFindings().findings(of: "K206").isEmpty)
        }
    }
}
