import KindredSchema
import Testing

/// Relationships from and to views.
@Suite struct ViewRelationshipTests {
    /// The tables of BaseTen's tests, with a view of each.
    private static func tests(_ extra: (inout TestCatalog) -> Void = { _ in }) -> TestCatalog {
        .make {
            $0.table("test1", ["id", "value"], primaryKey: ["id"])
            $0.table("test2", ["id", "value", "fk1"], primaryKey: ["id"])
            $0.foreignKey("fk1", of: "test2", ["fk1"], to: "test1")
            $0.view("test1_v", of: "test1", ["id", "value"])
            $0.view("test2_v", of: "test2", ["id", "value", "fk1"])
            extra(&$0)
        }
    }

    @Test func viewsAndTablesLeadToEachOther() throws {
        let schema = try Self.tests().schema()
        #expect(
            try schema.summary("test1") == [
                "test2Set fk1_test2Set public_test2_fk1: oneToMany public.test2 fk1Object",
                "test2_vSet fk1_test2_vSet public_test2_v_fk1: oneToMany public.test2_v fk1Object",
            ])
        #expect(
            try schema.summary("test2") == [
                "fk1Object public_test2_fk1 test1: manyToOne public.test1 test2Set",
                "test1_v fk1_test1_v public_test2_fk1_test1_v: manyToOne public.test1_v test2Set",
            ])
        #expect(
            try schema.summary("test1_v") == [
                "test2Set fk1_test2Set public_test2_fk1: oneToMany public.test2 test1_v",
                "test2_vSet fk1_test2_vSet public_test2_v_fk1: oneToMany public.test2_v test1_v",
            ])
        #expect(
            try schema.summary("test2_v") == [
                "fk1Object public_test2_v_fk1 test1: manyToOne public.test1 test2_vSet",
                "test1_v fk1_test1_v public_test2_v_fk1_test1_v: manyToOne public.test1_v test2_vSet",
            ])
    }

    @Test func manyToManyRelationshipsGoThroughTheTable() throws {
        let schema = try TestCatalog.make {
            $0.table("mtmtest1", ["id", "value1"], primaryKey: ["id"])
            $0.table("mtmtest2", ["id", "value2"], primaryKey: ["id"])
            $0.table("mtmrel1", ["id1", "id2"], primaryKey: ["id1", "id2"])
            $0.foreignKey("foreignkey1", of: "mtmrel1", ["id1"], to: "mtmtest1")
            $0.foreignKey("foreignkey2", of: "mtmrel1", ["id2"], to: "mtmtest2")
            $0.view("mtmtest1_v", of: "mtmtest1", ["value1", "id"])
            $0.view("mtmtest2_v", of: "mtmtest2", ["number=id"])
        }.schema()
        for (source, key, destination, inverse) in [
            ("mtmtest1", "mtmtest2_vSet", "mtmtest2_v", "mtmtest1Set"),
            ("mtmtest1_v", "mtmtest2Set", "mtmtest2", "mtmtest1_vSet"),
            ("mtmtest1_v", "mtmtest2_vSet", "mtmtest2_v", "mtmtest1_vSet"),
            ("mtmtest2_v", "mtmtest1_vSet", "mtmtest1_v", "mtmtest2_vSet"),
        ] {
            let found = try #require(try schema.relationship(source, key))
            #expect(found.kind == .manyToMany && found.destination.name == destination && found.inverse == inverse)
            #expect(found.helper?.entity.name == "mtmrel1")
            #expect(found.columns == [source == "mtmtest2_v" ? "number" : "id"])
            #expect(found.destinationColumns == [destination == "mtmtest2_v" ? "number" : "id"])
            #expect(found.deleteRule == .noAction)
        }
        // The helper's own relationships lead to views too.
        #expect(try schema.relationship("mtmrel1", "mtmtest1_v")?.inverse == "mtmrel1Set")
        #expect(try schema.entity(named: "mtmtest1").relationships.filter { $0.kind == .manyToMany }.count == 2)
    }

    @Test func columnsMayHaveOtherNamesAndStandInAnyOrder() throws {
        let schema = try TestCatalog.make {
            $0.table("tenant_user", ["tenant", "number"], primaryKey: ["tenant", "number"])
            $0.table("post", ["id", "tenant!", "author"], primaryKey: ["id"])
            $0.foreignKey("author", of: "post", ["tenant", "author"], to: "tenant_user", ["tenant", "number"])
            $0.view("account", of: "tenant_user", ["no=number", "firm=tenant"])
            $0.view("half", of: "tenant_user", ["number"])
            $0.view("article", of: "post", ["writer=author", "text_id=id", "firm=tenant"])
            $0.view("anonymous", of: "post", ["id", "tenant"])
        }.schema()
        let writer = try #require(try schema.relationship("article", "account"))
        #expect(writer.columns == ["firm", "writer"] && writer.destinationColumns == ["firm", "no"])
        #expect(writer.kind == .manyToOne && writer.isOptional && writer.clearedColumns == ["writer"])
        #expect(writer.inverse == "articleSet" && writer.foreignKey == "author")
        #expect(try schema.relationship("account", "articleSet")?.destinationColumns == ["firm", "writer"])
        #expect(try schema.entity(named: "half").relationships.isEmpty)
        #expect(try schema.entity(named: "anonymous").relationships.isEmpty)
        #expect(try schema.relationship("tenant_user", "halfSet") == nil)
    }

    @Test func viewsOnViewsTakePart() throws {
        let schema = try Self.tests {
            $0.view("outer_v", of: "test2_v", ["key=id", "reference=fk1"])
            $0.view("outmost", of: "outer_v", ["reference"], kind: "m")
            $0.view("test1_w", of: "test1_v", ["id"])
        }.schema()
        #expect(try schema.relationship("outer_v", "test1")?.columns == ["reference"])
        #expect(try schema.relationship("outmost", "test1_w")?.inverse == "outmostSet")
        #expect(try schema.relationship("test1_w", "outer_vSet")?.destinationColumns == ["reference"])
        // Views without a key have no key that anything can refer to, yet refer to others.
        #expect(try schema.entity(named: "outmost").primaryKey.isEmpty)
        #expect(try schema.entity(named: "outmost").relationships.map(\.kind).allSatisfy { $0 == .manyToOne })
    }

    @Test func aViewHasWhatIsReferredToAsItsKey() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "email!"], primaryKey: ["id"])
            $0.unique("person_email_key", of: "person", ["email"])
            $0.table("letter", ["id", "to"], primaryKey: ["id"])
            $0.foreignKey("letter_to_fkey", of: "letter", ["to"], to: "person", ["email"])
            $0.view("person_v", of: "person", ["id", "email"])
            $0.view("address", of: "person", ["email"], isProjection: false)
            $0.comment(onTable: "address", "@kindred {\"key\": \"email\"}")
            $0.view("grouped", of: "person", ["email"], isProjection: false)
        }.schema()
        #expect(try schema.entity(named: "letter").relationships.map(\.destination.name) == ["address", "person"])
        #expect(try schema.relationship("address", "letterSet")?.inverse == "address")
    }

    @Test func oneToOneStaysSo() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("profile", ["id"], primaryKey: ["id"])
            $0.foreignKey("profile_id_fkey", of: "profile", ["id"], to: "person")
            $0.view("person_v", of: "person", ["id"])
            $0.view("profile_v", of: "profile", ["id"])
        }.schema()
        #expect(try schema.relationship("person", "profile_v")?.kind == .oneToOne)
        #expect(try schema.relationship("person", "profile_vSet") == nil)
        #expect(try schema.relationship("profile_v", "person_v")?.inverse == "profile_v")
        #expect(try schema.relationship("profile_v", "person")?.isOptional == false)
    }

    @Test func tablesNamesComeFirst() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("message", ["id", "sender_id", "recipient_id"], primaryKey: ["id"])
            $0.foreignKey("sender__message_vSet", of: "message", ["sender_id"], to: "person")
            $0.foreignKey("message_recipient_id_fkey", of: "message", ["recipient_id"], to: "person")
            $0.view("message_v", of: "message", ["id", "sender_id"])
            $0.view("audit.message", of: "message", ["id", "sender_id"])
            $0.view("person_v", of: "person", ["id"])
            $0.view("recipient", of: "person", ["id"])
        }.schema()
        // The pair's half is the table's, so the view has its other name; and what tables claim in vain goes to no view.
        #expect(try schema.relationship("person", "message_vSet")?.destination.name == "message")
        #expect(try schema.relationship("person", "sender_message_vSet")?.destination.name == "message_v")
        #expect(try schema.relationship("person", "messageSet") == nil)
        #expect(try schema.relationship("message", "sender")?.destination.name == "person")
        #expect(try schema.relationship("message_v", "sender")?.destination.name == "person")
        #expect(try schema.relationship("message_v", "sender_person_v")?.name == "person_v")
        #expect(try schema.relationship("message", "sender_person_v")?.inverse == "sender_messageSet")
        #expect(try schema.relationship("message", "recipient")?.destination.name == "person")
        // Names written on constraints stay with the tables.
        #expect(try schema.entity(named: "message_v").keys.contains("sender__message_vSet") == false)
    }

    @Test func selfReferencesLeadToViewsBothWays() throws {
        let schema = try TestCatalog.make {
            $0.table("node", ["id", "parent_id"], primaryKey: ["id"])
            $0.foreignKey("node_parent_id_fkey", of: "node", ["parent_id"], to: "node")
            $0.view("node_v", of: "node", ["id", "parent_id"])
        }.schema()
        for (source, key, inverse) in [
            ("node", "node_v", "nodeSet"), ("node", "node_vSet", "node"),
            ("node_v", "node", "node_vSet"), ("node_v", "nodeSet", "node_v"), ("node_v", "node_v", "node_vSet"),
        ] {
            let found = try #require(try schema.relationship(source, key), "\(source).\(key)")
            let back = try schema.entity(named: found.destination.description).relationship(named: inverse)
            #expect(back?.destination.name == source && back?.inverse == found.name, "\(source).\(key)")
        }
    }

    @Test func rowsOfTwoPlacesMakeNoCompositeKey() throws {
        let schema = try TestCatalog.make {
            $0.table("place", ["x", "y"], primaryKey: ["x", "y"])
            $0.table("pin", ["id", "x", "y", "owner"], primaryKey: ["id"])
            $0.table("owner", ["id"], primaryKey: ["id"])
            $0.foreignKey("pin_place_fkey", of: "pin", ["x", "y"], to: "place", ["x", "y"])
            $0.foreignKey("pin_owner_fkey", of: "pin", ["owner"], to: "owner")
            $0.view("pairs", of: "pin", ["x", "y", "owned_by=owner"], isProjection: false)
            $0.modify { $0.viewOrigins[0].repeated = [$0.relations[1].oid] }
        }.schema()
        #expect(try schema.entity(named: "pairs").relationships.map(\.destination.name) == ["owner"])
    }

    // MARK: How many

    private static func manyViews(_ count: Int, annotated: Set<Int> = []) throws -> DatabaseSchema {
        try tests {
            for number in 0..<count {
                $0.view("v\(number)", of: "test2", ["id", "fk1"])
                if annotated.contains(number) {
                    $0.comment(onTable: "v\(number)", "@kindred {\"relationships\": true}")
                }
            }
        }.schema()
    }

    @Test func aForeignKeyGivesAHundredRelationshipsByViews() throws {
        // With test2_v and test1_v: 2 * 50 - 1, and 2 * 51 - 1.
        let few = try Self.manyViews(48)
        #expect(try few.entity(named: "test1").relationships.count == 50)
        #expect(few.diagnostics.isEmpty)
        let many = try Self.manyViews(49, annotated: [3, 7])
        #expect(try many.entity(named: "test1").keys.contains("v3Set"))
        #expect(try many.entity(named: "test1").relationships.map(\.destination.name) == ["test2", "v3", "v7"])
        #expect(try many.entity(named: "test1_v").relationships.isEmpty)
        let note = try #require(many.diagnostics.first { $0.code == .manyViews })
        #expect(note.entity.name == "test2" && note.constraints == ["fk1"] && note.message.contains("101"))
    }

    @Test func annotationsKeepViewsOut() throws {
        let quiet = Self.tests { $0.comment(onTable: "test2_v", "@kindred {\"relationships\": false}") }
        #expect(try quiet.schema().entity(named: "test2_v").relationships.isEmpty)
        let override = SchemaOverride.table("test1_v", relationships: false)
        #expect(try Self.tests().schema([override]).entity(named: "test1_v").relationships.isEmpty)
        let wrong = Self.tests { $0.comment(onTable: "test2", "@kindred {\"relationships\": true}") }
        #expect(throws: SchemaError.self) { try wrong.schema() }
    }

    // MARK: Inferences from the foreign key

    @Test func rulesOfTheTableStayWithTheTable() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id!"], primaryKey: ["id"])
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person") {
                $0.deleteAction = Character("c").asciiValue ?? 0
            }
            $0.view("person_v", of: "person", ["id"])
            $0.view("email_v", of: "email", ["id", "person_id"])
        }.schema()
        #expect(try schema.relationship("person", "emailSet")?.deleteRule == .cascade)
        for (entity, key) in [("person", "email_vSet"), ("person_v", "emailSet"), ("email_v", "person")] {
            let found = try #require(try schema.relationship(entity, key))
            #expect(found.deleteRule == .noAction && found.isByView && found.databaseAction == .noAction)
        }
        #expect(try schema.relationship("email_v", "person")?.isOptional == false)
        // A view need not show the row.
        #expect(try schema.relationship("email", "person_v")?.mayDangle == true)
        #expect(try schema.relationship("email_v", "person")?.mayDangle == false)
    }

    @Test func whatTheRoleMayNotReadIsLeftOut() throws {
        let schema = try Self.tests { $0.modify { $0.relations[0].isReadable = false } }.schema()
        #expect(try schema.entity(named: "test1_v").relationships.map(\.name) == ["test2Set", "test2_vSet"])
        #expect(try schema.entity(named: "test2_v").relationships.map(\.name) == ["test1_v"])
        #expect(schema.diagnostics.map(\.code) == [.unreadableForeignKey])
    }
}
