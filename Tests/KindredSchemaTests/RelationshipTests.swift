import Foundation
import KindredSchema
import Testing

@Suite struct RelationshipTests {
    @Test(
        arguments: [
            ("a", DeleteRule.noAction), ("r", .deny), ("c", .cascade), ("n", .nullify), ("d", .nullify),
        ] as [(Character, DeleteRule)])
    func referencedSideHasTheKeysRule(_ action: Character, _ rule: DeleteRule) throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person") {
                $0.deleteAction = action.asciiValue ?? 0
            }
        }.schema()
        #expect(try schema.relationship("person", "emailSet")?.deleteRule == rule)
        #expect(try schema.relationship("email", "person")?.deleteRule == .nullify)
    }

    struct Key: Sendable {
        var columns: [String]
        var isMatchFull = false
        var deleteSet: [String] = []
        var isOptional: Bool
        var cleared: [String]
    }

    @Test(arguments: [
        Key(columns: ["a", "b"], isOptional: true, cleared: ["a", "b"]),
        Key(columns: ["a!", "b"], isOptional: true, cleared: ["b"]),
        Key(columns: ["a!", "b!"], isOptional: false, cleared: []),
        Key(columns: ["a", "b"], isMatchFull: true, isOptional: true, cleared: ["a", "b"]),
        Key(columns: ["a!", "b"], isMatchFull: true, isOptional: true, cleared: []),
        Key(columns: ["a", "b"], deleteSet: ["b"], isOptional: true, cleared: ["b"]),
        Key(columns: ["a", "b!"], deleteSet: ["b"], isOptional: true, cleared: ["a"]),
    ])
    func nullableColumnsDecideOptionality(_ key: Key) throws {
        let schema = try TestCatalog.make {
            $0.table("t", ["a", "b"], primaryKey: ["a", "b"])
            $0.table("r", key.columns)
            let setColumns = $0.numbers(key.deleteSet, of: "r")
            $0.foreignKey("r_fkey", of: "r", ["a", "b"], to: "t", ["a", "b"]) {
                $0.isMatchFull = key.isMatchFull
                $0.deleteSetColumns = setColumns
            }
        }.schema()
        let toOne = try #require(try schema.relationship("r", "t"))
        let toMany = try #require(try schema.relationship("t", "rSet"))
        #expect(toOne.isOptional == key.isOptional)
        #expect(toMany.isOptional)
        #expect(toOne.clearedColumns == key.cleared)
        #expect(toMany.clearedColumns == key.cleared)
    }

    @Test func generatedColumnsAreNeverCleared() throws {
        var catalog = TestCatalog.make {
            $0.table("t", ["a", "b"], primaryKey: ["a", "b"])
            $0.table("r", ["a", "b"])
            $0.foreignKey("r_fkey", of: "r", ["a", "b"], to: "t", ["a", "b"])
        }
        catalog.modifyColumn("a", of: "r") { $0.isGenerated = true }
        #expect(try catalog.schema().relationship("r", "t")?.clearedColumns == ["b"])
    }

    @Test func unenforcedKeysCountAndSaySo() throws {
        let schema = try TestCatalog.make {
            $0.table("t", ["id"], primaryKey: ["id"])
            $0.table("r", ["t_id"])
            $0.foreignKey("r_fkey", of: "r", ["t_id"], to: "t") { $0.isEnforced = false }
        }.schema()
        #expect(try schema.relationship("r", "t")?.isEnforced == false)
        #expect(try schema.relationship("t", "rSet")?.isEnforced == false)
    }

    @Test func sideThatHoldsTheKeyKnowsIt() throws {
        let schema = try TestCatalog.make {
            $0.table("t", ["id"], primaryKey: ["id"])
            $0.table("r", ["t_id"], primaryKey: ["t_id"])
            $0.foreignKey("r_fkey", of: "r", ["t_id"], to: "t")
        }.schema()
        let (holder, target) = (try schema.relationship("r", "t"), try schema.relationship("t", "r"))
        #expect(holder?.kind == .oneToOne && holder?.holdsForeignKey == true)
        #expect(target?.kind == .oneToOne && target?.holdsForeignKey == false)
        #expect(holder?.foreignKey == "r_fkey" && target?.foreignKey == "r_fkey")
        #expect(holder?.columns == ["t_id"] && holder?.destinationColumns == ["id"])
        #expect(target?.columns == ["id"] && target?.destinationColumns == ["t_id"])
    }

    @Test func explanationTellsEveryRule() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "emailSet"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("owner__emails", of: "email", ["person_id"], to: "person")
        }.schema()
        let emails = try #require(try schema.relationship("person", "emails"))
        #expect(
            emails.explanation.map(\.description) == [
                "emails (half of the constraint's name)",
                "emailSet (table name): an attribute has this name",
                "person_emailSet (column name)",
                "public_email_owner__emails (generated)",
            ]
        )
        #expect(Set(emails.explanation.filter(\.isGiven).map(\.name)) == Set([emails.name] + emails.aliases))
    }

    @Test func jsonHasTheFormatOfInspect() throws {
        var catalog = TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("email", ["person_id"])
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person")
            $0.table("t\"\\\n\u{1}é", [])
        }
        catalog.modifyColumn("id", of: "person") {
            $0.typeName = "integer"
            $0.hasDefault = true
        }
        #expect(
            try catalog.schema().json() == #"""
                {"format": 1, "entities": [
                  {"name": "email", "schema": "public", "kind": "table",
                   "primaryKey": [],
                   "attributes": [
                     {"name": "person_id", "type": "bigint", "notNull": false, "hasDefault": false, "generated": false}],
                   "relationships": [
                     {"name": "person", "aliases": ["email_person_id_fkey", "public_email_email_person_id_fkey"], "kind": "manyToOne", "toMany": false, "optional": true, "destination": "public.person", "inverse": "emailSet", "deleteRule": "nullify", "foreignKey": "email_person_id_fkey", "columns": ["person_id"], "destinationColumns": ["id"], "helper": null}]},
                  {"name": "person", "schema": "public", "kind": "table",
                   "primaryKey": ["id"],
                   "attributes": [
                     {"name": "id", "type": "integer", "notNull": true, "hasDefault": true, "generated": false}],
                   "relationships": [
                     {"name": "emailSet", "aliases": ["person_emailSet", "public_email_email_person_id_fkey"], "kind": "oneToMany", "toMany": true, "optional": true, "destination": "public.email", "inverse": "person", "deleteRule": "noAction", "foreignKey": "email_person_id_fkey", "columns": ["id"], "destinationColumns": ["person_id"], "helper": null}]},
                  {"name": "t\"\\\n\u0001é", "schema": "public", "kind": "table",
                   "primaryKey": [],
                   "attributes": [],
                   "relationships": []}
                ]}

                """#
        )
    }

    @Test func jsonIsExactAndCommandsNoTerminal() throws {
        let name = "a\u{1B}\u{7F}\u{9B}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}é\u{301}"
        let json = try TestCatalog.make { $0.table(name, []) }.schema().json()
        #expect(json.contains(#""a\u001b\u007f\u009b\u202e\u2066\u200f\u061c\u2028"#))
        let found = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let entities = try #require(found?["entities"] as? [[String: Any]])
        let read = try #require(entities.first?["name"] as? String)
        #expect(read.unicodeScalars.elementsEqual(name.unicodeScalars))
    }

    @Test func jsonOfHelpersAndOfSomeEntities() throws {
        let schema = try TestCatalog.make {
            $0.table("a", ["id"], primaryKey: ["id"])
            $0.table("b", ["id"], primaryKey: ["id"])
            $0.table("a_b", ["a_id", "b_id"], primaryKey: ["a_id", "b_id"])
            $0.foreignKey("x", of: "a_b", ["a_id"], to: "a")
            $0.foreignKey("y", of: "a_b", ["b_id"], to: "b")
        }.schema()
        let json = schema.json(entities: [try schema.entity(named: "a")])
        #expect(!json.contains(#""name": "b", "schema""#))
        #expect(
            json.contains(
                #""foreignKey": null, "columns": ["id"], "destinationColumns": ["id"], "helper": "#
                    + #"{"entity": "public.a_b", "sourceForeignKey": "x", "destinationForeignKey": "y"}}"#
            )
        )
        #expect(DatabaseSchema(entities: [], searchPath: []).json() == "{\"format\": 1, \"entities\": []}\n")
    }
}
