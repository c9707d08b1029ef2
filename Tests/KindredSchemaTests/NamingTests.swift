import KindredSchema
import Testing

@Suite struct NamingTests {
    /// person(id) and email(id, address, person_id) with one foreign key of a given name.
    private func personAndEmail(
        _ constraint: String,
        column: String = "person_id",
        isUnique: Bool = false
    ) throws -> DatabaseSchema {
        try TestCatalog.make {
            $0.table("person", ["id", "firstname", "surname"], primaryKey: ["id"])
            $0.table("email", ["id", "address", column], primaryKey: ["id"])
            $0.foreignKey(constraint, of: "email", [column], to: "person")
            if isUnique { $0.unique("email_unique", of: "email", [column]) }
        }.schema()
    }

    @Test func ordinaryKeyIsNamedByItsTables() throws {
        let schema = try personAndEmail("email_person_id_fkey")
        #expect(
            try schema.summary("email") == [
                "person email_person_id_fkey public_email_email_person_id_fkey: manyToOne public.person emailSet"
            ]
        )
        #expect(
            try schema.summary("person") == [
                "emailSet person_emailSet public_email_email_person_id_fkey: oneToMany public.email person"
            ]
        )
    }

    @Test func oneToOneHasNoSet() throws {
        let schema = try personAndEmail("email_person_id_fkey", isUnique: true)
        #expect(
            try schema.summary("person") == [
                "email person_email public_email_email_person_id_fkey: oneToOne public.email person"
            ]
        )
    }

    @Test(arguments: [
        // constraint, keys of email, keys of person; the first of each is the name
        (
            "owner__emails", "owner person public_email_owner__emails",
            "emails emailSet person_emailSet public_email_owner__emails"
        ),
        ("a__b__c", "a person public_email_a__b__c", "b__c emailSet person_emailSet public_email_a__b__c"),
        ("__emails", "person public_email___emails", "emails emailSet person_emailSet public_email___emails"),
        ("owner__", "owner person public_email_owner__", "emailSet person_emailSet public_email_owner__"),
        ("a___b", "a person public_email_a___b", "_b emailSet person_emailSet public_email_a___b"),
        ("owner", "owner person public_email_owner", "emailSet person_emailSet public_email_owner"),
        ("owner_", "owner_ person public_email_owner_", "emailSet person_emailSet public_email_owner_"),
        ("__", "person public_email___", "emailSet person_emailSet public_email___"),
        ("fk_owner", "person fk_owner public_email_fk_owner", "emailSet person_emailSet public_email_fk_owner"),
        ("person", "person public_email_person", "emailSet person_emailSet public_email_person"),
        // Halves that are attributes' names are not given.
        (
            "address__surname", "person public_email_address__surname",
            "emailSet person_emailSet public_email_address__surname"
        ),
    ])
    func constraintNamesGiveNames(_ constraint: String, _ email: String, _ person: String) throws {
        let schema = try personAndEmail(constraint)
        #expect(try schema.summary("email").first?.split(separator: ":").first.map(String.init) == email)
        #expect(try schema.summary("person").first?.split(separator: ":").first.map(String.init) == person)
    }

    @Test(arguments: [
        ("email_person_id_fkey", true), ("email_", true), ("email_owner", true), ("email", false),
        ("emails_owner", false),
        ("Email_owner", false), ("fk", true), ("fk_owner", true), ("owner_fk", true), ("owner_fkey", true),
        ("owner_fkey1", true), ("owner_FK12", true), ("Fk_owner", true), ("x_ibfk_1", true), ("x_IBFK1", true),
        ("foreign_owner", true), ("owner_foreignkey", true), ("owner_ForeignKey2", true), ("FKOwner", true),
        ("FK1a2b3c", true), ("FK8ab", true), ("FKowner", false), ("fkOwner", false), ("owner", false), ("fkeyx", false),
        ("owner_fkx", false), ("owner_12", false), ("foreigner", false), ("kfk", false), ("fk2", true),
    ])
    func machineMadeNamesAreNotPreferred(_ constraint: String, _ isMachineMade: Bool) throws {
        let toOne = try #require(try personAndEmail(constraint).relationship("email", "person"))
        #expect(toOne.name == (isMachineMade ? "person" : constraint))
        // Machine-made or not, it remains a key.
        #expect(([toOne.name] + toOne.aliases).contains(constraint))
    }

    @Test(arguments: [
        ("fpk_email_person_id", true), ("fpk_EMAIL_PERSON_ID", true), ("emailperson_id", true),
        ("x_email_y_person_id", true),
        ("fpk_mail_person_id", false), ("fpk_email_person", false), ("person_id_email", false), ("person_id", false),
    ])
    func namesThatEndInTheColumnAreMachineMade(_ constraint: String, _ isMachineMade: Bool) throws {
        let toOne = try #require(try personAndEmail(constraint, column: "person_id").relationship("email", "person"))
        #expect(toOne.name == (isMachineMade || constraint == "person_id" ? "person" : constraint))
        #expect(([toOne.name] + toOne.aliases).contains(constraint) == (constraint != "person_id"))
    }

    @Test func manyToManyNamesThatEndInTheColumnAreMachineMade() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("note", ["id"], primaryKey: ["id"])
            $0.table("rel", ["person_id", "note_id"], primaryKey: ["person_id", "note_id"])
            $0.foreignKey("fpk_rel_person_id", of: "rel", ["person_id"], to: "person")
            $0.foreignKey("fpk_rel_note_id", of: "rel", ["note_id"], to: "note")
        }.schema()
        #expect(try schema.entity(named: "person").relationships.map(\.name) == ["noteSet", "relSet"])
        #expect(try schema.entity(named: "rel").relationships.map(\.name) == ["note", "person"])
    }

    @Test func twoKeysToOneTableAreNamedByTheirColumns() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("message", ["id", "sender_id", "recipient_id"], primaryKey: ["id"])
            $0.foreignKey("message_sender_id_fkey", of: "message", ["sender_id"], to: "person")
            $0.foreignKey("message_recipient_id_fkey", of: "message", ["recipient_id"], to: "person")
        }.schema()
        #expect(
            try schema.summary("message") == [
                "recipient message_recipient_id_fkey public_message_message_recipient_id_fkey: "
                    + "manyToOne public.person recipient_messageSet",
                "sender message_sender_id_fkey public_message_message_sender_id_fkey: "
                    + "manyToOne public.person sender_messageSet",
            ]
        )
        #expect(
            try schema.summary("person") == [
                "recipient_messageSet public_message_message_recipient_id_fkey: oneToMany public.message recipient",
                "sender_messageSet public_message_message_sender_id_fkey: oneToMany public.message sender",
            ]
        )
    }

    @Test func threeKeysToOneTableStayApart() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("film", ["id", "director_id", "writer_id", "person_id"], primaryKey: ["id"])
            for column in ["director_id", "writer_id", "person_id"] {
                $0.foreignKey("film_\(column)_fkey", of: "film", [column], to: "person")
            }
        }.schema()
        // The table's name is contested; the column's name gives it to person_id after all.
        #expect(try schema.entity(named: "film").relationships.map(\.name) == ["director", "person", "writer"])
        #expect(
            try schema.entity(named: "person").relationships.map(\.name)
                == ["director_filmSet", "person_filmSet", "writer_filmSet"]
        )
    }

    @Test func selfReferenceHasBothEnds() throws {
        let schema = try TestCatalog.make {
            $0.table("employee", ["id", "reports_to"], primaryKey: ["id"])
            $0.foreignKey("employee_reports_to_fkey", of: "employee", ["reports_to"], to: "employee")
        }.schema()
        #expect(
            try schema.summary("employee") == [
                "employeeSet public_employee_employee_reports_to_fkey reports_to_employeeSet: "
                    + "oneToMany public.employee reports_toObject",
                "reports_toObject employee employee_reports_to_fkey public_employee_employee_reports_to_fkey_2: "
                    + "manyToOne public.employee employeeSet",
            ]
        )
    }

    @Test func selfReferenceByPairReadsLikeATree() throws {
        let schema = try TestCatalog.make {
            $0.table("node", ["id", "parent_id"], primaryKey: ["id"])
            $0.foreignKey("parent__children", of: "node", ["parent_id"], to: "node")
        }.schema()
        #expect(
            try schema.summary("node") == [
                "children nodeSet parent_nodeSet public_node_parent__children: oneToMany public.node parent",
                "parent node public_node_parent__children_2: manyToOne public.node children",
            ]
        )
    }

    @Test func oneToOneSelfReferenceContestsTheTableName() throws {
        let schema = try TestCatalog.make {
            $0.table("page", ["id", "next_id"], primaryKey: ["id"])
            $0.foreignKey("page_next_id_fkey", of: "page", ["next_id"], to: "page")
            $0.unique("page_next_id_key", of: "page", ["next_id"])
        }.schema()
        #expect(try schema.relationship("page", "page") == nil)
        #expect(try schema.entity(named: "page").relationships.map(\.name) == ["next", "next_page"])
    }

    @Test func attributesWin() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "emailSet", "person_emailSet"], primaryKey: ["id"])
            $0.table("email", ["id", "person", "person_id", "personObject"], primaryKey: ["id"])
            $0.foreignKey("person", of: "email", ["person_id"], to: "person")
        }.schema()
        #expect(try schema.summary("email") == ["public_email_person: manyToOne public.person public_email_person"])
        #expect(try schema.summary("person") == ["public_email_person: oneToMany public.email public_email_person"])
        #expect(schema.diagnostics.filter { $0.code == .generatedNameOnly }.count == 2)
    }

    @Test func generatedNameMovesAsideForAnAttribute() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "public_email_c", "public_email_c_2"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("c", of: "email", ["person_id"], to: "person")
        }.schema()
        #expect(
            try schema.relationship("person", "emailSet")?.aliases == ["person_emailSet", "public_email_c_3"]
        )
    }

    @Test func equalGeneratedNamesAreNumbered() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("a.b_c", ["id", "x"])
            $0.table("a_b.c", ["id", "x"])
            $0.foreignKey("d", of: "a.b_c", ["x"], to: "person")
            $0.foreignKey("d", of: "a_b.c", ["x"], to: "person")
        }.schema()
        #expect(try schema.relationship("person", "a_b_c_d")?.destination.description == "a.b_c")
        #expect(try schema.relationship("person", "a_b_c_d_2")?.destination.description == "a_b.c")
    }

    @Test func generatedNamesArePermanent() throws {
        func catalog(isLater: Bool) -> TestCatalog {
            .make {
                $0.table("person", ["id"], primaryKey: ["id"])
                $0.table("email", ["id", "person_id", "other_id"], primaryKey: ["id"])
                $0.foreignKey("owner", of: "email", ["person_id"], to: "person")
                guard isLater else { return }
                // A table, a pair and a constraint that would like the generated names.
                $0.table("public_email_owner", ["id", "person_id"], primaryKey: ["id"])
                $0.foreignKey("x", of: "email", ["other_id"], to: "public_email_owner")
                $0.foreignKey("y__public_email_owner", of: "public_email_owner", ["person_id"], to: "person")
            }
        }
        for schema in try [catalog(isLater: false).schema(), catalog(isLater: true).schema()] {
            #expect(try schema.relationship("email", "public_email_owner")?.destination.name == "person")
            #expect(try schema.relationship("person", "public_email_owner")?.destination.name == "email")
        }
    }

    @Test func equalTableNamesInTwoSchemasContest() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            for name in ["audit", "public"] {
                $0.table("\(name).email", ["id", "owner_id"], primaryKey: ["id"])
                $0.foreignKey("email_owner_id_fkey", of: "\(name).email", ["owner_id"], to: "person")
            }
        }.schema()
        #expect(
            try schema.entity(named: "person").relationships.map(\.name)
                == ["audit_email_email_owner_id_fkey", "public_email_email_owner_id_fkey"]
        )
        let explanation = try schema.entity(named: "person").relationships[0].explanation
        #expect(
            explanation.map(\.description) == [
                "emailSet (table name): also claimed by public_email_email_owner_id_fkey",
                "owner_emailSet (column name): also claimed by public_email_email_owner_id_fkey",
                "audit_email_email_owner_id_fkey (generated)",
            ]
        )
    }

    @Test func higherLevelsTakeNamesFirst() throws {
        // `emailSet` is the pair's name of one key and the table's name of another.
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id"], primaryKey: ["id"])
            $0.table("letter", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person")
            $0.foreignKey("writer__emailSet", of: "letter", ["person_id"], to: "person")
        }.schema()
        #expect(try schema.relationship("person", "emailSet")?.destination.name == "letter")
        let email = try #require(try schema.relationship("person", "person_emailSet"))
        #expect(email.name == "person_emailSet")
        #expect(email.explanation.map(\.description).first == "emailSet (table name): already the name of emailSet")
    }

    @Test func threeEqualPairsStandDownTogether() throws {
        // BaseTen deleted the names of two and kept all of three.
        for count in 2...4 {
            let schema = try TestCatalog.make {
                $0.table("person", ["id"], primaryKey: ["id"])
                for number in 1...count {
                    $0.table("t\(number)", ["id", "person_id"], primaryKey: ["id"])
                    $0.foreignKey("who__things", of: "t\(number)", ["person_id"], to: "person")
                }
            }.schema()
            let person = try schema.entity(named: "person")
            #expect(person.relationship(named: "things") == nil)
            #expect(person.relationships.map(\.name) == (1...count).map { "t\($0)Set" })
        }
    }

    @Test func keysToAnyUniqueKeyWork() throws {
        let schema = try TestCatalog.make {
            $0.table("country", ["id", "code!"], primaryKey: ["id"])
            $0.unique("country_code_key", of: "country", ["code"])
            $0.table("city", ["id", "country_code"], primaryKey: ["id"])
            $0.foreignKey("city_country_code_fkey", of: "city", ["country_code"], to: "country", ["code"])
        }.schema()
        let toOne = try #require(try schema.relationship("city", "country"))
        #expect(toOne.destinationColumns == ["code"])
        #expect(toOne.inverse == "citySet")
    }

    @Test func repeatedKeysAreOneRelationship() throws {
        let schema = try TestCatalog.make {
            $0.table("region", ["a", "b"], primaryKey: ["a", "b"])
            $0.table("site", ["a", "b"])
            $0.foreignKey("second", of: "site", ["a", "b"], to: "region", ["a", "b"]) {
                $0.deleteAction = UInt8(ascii: "c")
            }
            $0.foreignKey("first", of: "site", ["b", "a"], to: "region", ["b", "a"])
            $0.foreignKey("swapped", of: "site", ["a", "b"], to: "region", ["b", "a"])
        }.schema()
        let site = try schema.entity(named: "site")
        #expect(site.relationships.map(\.name) == ["first", "swapped"])
        #expect(site.relationships[0].aliases == ["public_site_first", "public_site_second", "second"])
        #expect(site.relationships[0].foreignKey == "first")
        #expect(try schema.relationship("region", "public_site_second")?.deleteRule == .cascade)
        let diagnostic = try #require(schema.diagnostics.first { $0.code == .repeatedForeignKey })
        #expect(diagnostic.constraints == ["first", "second"])
    }

    @Test func theSecondEndOfASelfReferenceKeepsItsNumber() throws {
        let schema = try TestCatalog.make {
            $0.table("node", ["id", "parent_id", "root_id"], primaryKey: ["id"])
            $0.foreignKey("c", of: "node", ["parent_id"], to: "node")
            $0.foreignKey("c_2", of: "node", ["root_id"], to: "node")
        }.schema()
        #expect(try schema.relationship("node", "public_node_c")?.kind == .oneToMany)
        #expect(try schema.relationship("node", "public_node_c_2")?.columns == ["parent_id"])
        #expect(try schema.entity(named: "node").relationships.count == 4)
    }
}
