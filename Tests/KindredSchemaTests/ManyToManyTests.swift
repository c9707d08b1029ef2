import KindredSchema
import Testing

@Suite struct ManyToManyTests {
    /// person and title with a helper whose key is what the test says.
    private func personAndTitle(_ columns: [String] = ["person_id", "title_id"], _ body: (inout TestCatalog) -> Void)
        -> TestCatalog
    {
        .make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("title", ["id", "name"], primaryKey: ["id"])
            $0.table("person_title_rel", columns)
            $0.foreignKey("person_title_rel_person_id_fkey", of: "person_title_rel", ["person_id"], to: "person")
            $0.foreignKey("person_title_rel_title_id_fkey", of: "person_title_rel", ["title_id"], to: "title")
            body(&$0)
        }
    }

    @Test func primaryKeyOfTwoForeignKeysMakesAHelper() throws {
        let schema = try personAndTitle {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["title_id", "person_id"])
        }.schema()
        let prefix = "public_person_title_rel_person_title_rel_"
        #expect(
            try schema.summary("person") == [
                "person_title_relSet person_person_title_relSet \(prefix)person_id_fkey: "
                    + "oneToMany public.person_title_rel person",
                "titleSet person_title_rel_person_id_fkey "
                    + "\(prefix)person_id_fkey_person_title_rel_title_id_fkey: manyToMany public.title personSet",
            ]
        )
        let titles = try #require(try schema.relationship("person", "titleSet"))
        #expect(titles.isToMany && titles.isOptional && titles.foreignKey == nil && titles.deleteRule == .nullify)
        #expect(titles.columns == ["id"] && titles.destinationColumns == ["id"] && !titles.holdsForeignKey)
        let helper = try #require(titles.helper)
        #expect(helper.entity == QualifiedName(schema: "public", name: "person_title_rel"))
        #expect(helper.sourceForeignKey == "person_title_rel_person_id_fkey")
        #expect(helper.destinationForeignKey == "person_title_rel_title_id_fkey")
        #expect(helper.sourceColumns == ["person_id"] && helper.destinationColumns == ["title_id"])
        #expect(helper.requiredPayload == [])
        #expect(
            try schema.entity(named: "person_title_rel").relationships.map(\.name) == ["person", "title"]
        )
    }

    @Test func constraintNamesNameTheEndsThatTheyReferTo() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("title", ["id", "name"], primaryKey: ["id"])
            $0.table("person_title_rel", ["person_id", "title_id"], primaryKey: ["person_id", "title_id"])
            $0.foreignKey("titles", of: "person_title_rel", ["person_id"], to: "person")
            $0.foreignKey("people", of: "person_title_rel", ["title_id"], to: "title")
        }.schema()
        #expect(try schema.relationship("person", "titles")?.destination.name == "title")
        #expect(try schema.relationship("title", "people")?.destination.name == "person")
        #expect(try schema.relationship("person", "titleSet")?.name == "titles")
        #expect(try schema.relationship("title", "personSet")?.name == "people")
        #expect(try schema.relationship("person", "titles")?.inverse == "people")
        #expect(try schema.relationship("person", "person_title_relSet")?.inverse == "titles")
        #expect(try schema.relationship("person_title_rel", "titles")?.destination.name == "person")
    }

    @Test func pairsNameTheHelpersOwnRelationshipsOnly() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("title", ["id"], primaryKey: ["id"])
            $0.table("rel", ["person_id", "title_id"], primaryKey: ["person_id", "title_id"])
            $0.foreignKey("holder__honours", of: "rel", ["person_id"], to: "person")
            $0.foreignKey("honour__holders", of: "rel", ["title_id"], to: "title")
        }.schema()
        #expect(try schema.entity(named: "person").relationships.map(\.name) == ["honours", "titleSet"])
        #expect(try schema.entity(named: "rel").relationships.map(\.name) == ["holder", "honour"])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isHelper: Bool
        let columns: [String]
        let prove: @Sendable (inout TestCatalog) -> Void

        init(
            _ description: String,
            _ isHelper: Bool,
            _ columns: [String] = ["person_id", "title_id"],
            _ prove: @escaping @Sendable (inout TestCatalog) -> Void
        ) {
            testDescription = description
            self.isHelper = isHelper
            self.columns = columns
            self.prove = prove
        }
    }

    @Test(arguments: [
        Case("no key", false) { _ in },
        Case("primary key", true) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id"])
        },
        Case("primary key with payload beside it", true, ["person_id", "title_id", "since"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id"])
        },
        Case("primary key with a column more", false, ["person_id", "title_id", "since"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id", "since"])
        },
        Case("primary key with a column less", false) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id"])
        },
        Case("surrogate key and unique", true, ["id!", "person_id!", "title_id!"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["id"])
            $0.unique("u", of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("surrogate key alone", false, ["id!", "person_id!", "title_id!"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["id"])
        },
        Case("surrogate key and unique over a nullable column", false, ["id!", "person_id!", "title_id"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["id"])
            $0.unique("u", of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("surrogate key and a unique index that is no constraint", true, ["id!", "person_id!", "title_id!"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["id"])
            $0.index(of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("unique index without a primary key", true, ["person_id!", "title_id!"]) {
            $0.index(of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("unique index with a column included", true, ["person_id!", "title_id!", "since"]) {
            $0.index(of: "person_title_rel", ["title_id", "person_id", "since"]) { $0.keyCount = 2 }
        },
        Case("unique index over a nullable column", false, ["person_id!", "title_id"]) {
            $0.index(of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("unique index of some rows", false, ["person_id!", "title_id!"]) {
            $0.index(of: "person_title_rel", ["title_id", "person_id"]) { $0.predicate = "(title_id IS NOT NULL)" }
        },
        Case("unique index with another equality", false, ["person_id!", "title_id!"]) {
            $0.index(of: "person_title_rel", ["title_id", "person_id"]) { $0.hasColumnsEquality = false }
        },
        Case("index of a deferrable constraint", false, ["person_id!", "title_id!"]) {
            $0.index(of: "person_title_rel", ["title_id", "person_id"]) { $0.isDeferrable = true }
        },
        Case("surrogate key and unique with a column more", false, ["id!", "person_id!", "title_id!", "since!"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["id"])
            $0.unique("u", of: "person_title_rel", ["title_id", "person_id", "since"])
        },
        Case("one key is the primary key", false, ["person_id!", "title_id!"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id"])
            $0.unique("u", of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("unique without a primary key", true, ["person_id!", "title_id!"]) {
            $0.unique("u", of: "person_title_rel", ["title_id", "person_id"])
        },
        Case("key without overlaps", false) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id"]) { $0.hasPeriod = true }
        },
        Case("third key outside", true, ["person_id", "title_id", "giver_id"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id"])
            $0.foreignKey("giver", of: "person_title_rel", ["giver_id"], to: "person")
        },
        Case("third key inside", false, ["person_id", "title_id", "giver_id"]) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id", "giver_id"])
            $0.foreignKey("giver", of: "person_title_rel", ["giver_id"], to: "person")
        },
    ])
    func keyDecidesWhetherATableIsAHelper(_ proof: Case) throws {
        let schema = try personAndTitle(proof.columns, proof.prove).schema()
        let titles = try schema.relationship("person", "titleSet")
        #expect((titles?.kind == .manyToMany) == proof.isHelper)
        #expect(try (schema.relationship("title", "personSet")?.kind == .manyToMany) == proof.isHelper)
        // The helper's own relationships are there in any case.
        #expect(try schema.relationship("person", "person_person_title_relSet")?.isToMany == true || !proof.isHelper)
        #expect(schema.diagnostics.filter { $0.code == .ambiguousHelper } == [])
    }

    @Test func payloadThatNeedsAValueIsListed() throws {
        let columns = ["person_id", "title_id", "since!", "note", "rank!", "sum!", "serial!"]
        var catalog = personAndTitle(columns) {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["person_id", "title_id"])
        }
        catalog.modifyColumn("rank", of: "person_title_rel") { $0.hasDefault = true }
        catalog.modifyColumn("sum", of: "person_title_rel") { $0.isGenerated = true }
        catalog.modifyColumn("serial", of: "person_title_rel") { $0.identity = UInt8(ascii: "a") }
        #expect(try catalog.schema().relationship("person", "titleSet")?.helper?.requiredPayload == ["since"])
    }

    @Test func friendsAreTwoDirections() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("friendship", ["person_id", "friend_id"], primaryKey: ["person_id", "friend_id"])
            $0.foreignKey("friendship_person_id_fkey", of: "friendship", ["person_id"], to: "person")
            $0.foreignKey("friendship_friend_id_fkey", of: "friendship", ["friend_id"], to: "person")
        }.schema()
        let person = try schema.entity(named: "person")
        #expect(
            person.relationships.map(\.name) == [
                "friendSet", "friend_friendshipSet", "personSet", "person_friendshipSet",
            ])
        let friends = try #require(person.relationship(named: "friendSet"))
        #expect(friends.kind == .manyToMany && friends.inverse == "personSet")
        #expect(friends.helper?.sourceColumns == ["person_id"] && friends.helper?.destinationColumns == ["friend_id"])
        #expect(person.relationship(named: "personSet")?.helper?.sourceColumns == ["friend_id"])
        #expect(
            friends.aliases == [
                "friendship_person_id_fkey",
                "public_friendship_friendship_person_id_fkey_friendship_friend_id_fkey",
            ]
        )
    }

    @Test func sharedTenantColumnIsAllowed() throws {
        let schema = try TestCatalog.make {
            $0.table("user", ["tenant", "id"], primaryKey: ["tenant", "id"])
            $0.table("team", ["tenant", "id"], primaryKey: ["tenant", "id"])
            $0.table("member", ["tenant", "user_id", "team_id"], primaryKey: ["tenant", "user_id", "team_id"])
            $0.foreignKey("member_user_fkey", of: "member", ["tenant", "user_id"], to: "user", ["tenant", "id"])
            $0.foreignKey("member_team_fkey", of: "member", ["tenant", "team_id"], to: "team", ["tenant", "id"])
        }.schema()
        let teams = try #require(try schema.relationship("user", "teamSet"))
        #expect(teams.helper?.sourceColumns == ["tenant", "user_id"])
        #expect(teams.helper?.destinationColumns == ["tenant", "team_id"])
        #expect(teams.columns == ["tenant", "id"])
    }

    @Test func eachKeyMustBringAColumn() throws {
        let schema = try TestCatalog.make {
            $0.table("a", ["id"], primaryKey: ["id"])
            $0.table("b", ["id", "a_id"], primaryKey: ["id", "a_id"])
            $0.table("h", ["a_id", "b_id"], primaryKey: ["a_id", "b_id"])
            $0.foreignKey("h_a", of: "h", ["a_id"], to: "a")
            $0.foreignKey("h_b", of: "h", ["b_id", "a_id"], to: "b", ["id", "a_id"])
        }.schema()
        #expect(schema.entities.allSatisfy { $0.relationships.allSatisfy { $0.kind != .manyToMany } })
    }

    @Test func selfReferenceMakesNoHelper() throws {
        let schema = try TestCatalog.make {
            $0.table("tag", ["id"], primaryKey: ["id"])
            $0.table("note", ["id", "parent_id!", "tag_id!"], primaryKey: ["id"])
            $0.unique("u", of: "note", ["parent_id", "tag_id"])
            $0.foreignKey("note_parent_id_fkey", of: "note", ["parent_id"], to: "note")
            $0.foreignKey("note_tag_id_fkey", of: "note", ["tag_id"], to: "tag")
        }.schema()
        #expect(try schema.relationship("tag", "noteSet")?.kind == .oneToMany)
    }

    private func ambiguous(_ body: (inout TestCatalog) -> Void = { _ in }) -> TestCatalog {
        .make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("company", ["id"], primaryKey: ["id"])
            $0.table("club", ["id"], primaryKey: ["id"])
            $0.table("rel", ["id!", "person_id!", "company_id!", "club_id!"], primaryKey: ["id"])
            $0.unique("u1", of: "rel", ["person_id", "company_id"])
            $0.unique("u2", of: "rel", ["person_id", "club_id"])
            for name in ["person", "company", "club"] {
                $0.foreignKey("rel_\(name)_id_fkey", of: "rel", ["\(name)_id"], to: name)
            }
            body(&$0)
        }
    }

    @Test func severalFittingPairsMakeNone() throws {
        let schema = try ambiguous().schema()
        #expect(schema.entities.allSatisfy { $0.relationships.allSatisfy { $0.kind != .manyToMany } })
        let diagnostic = try #require(schema.diagnostics.first { $0.code == .ambiguousHelper })
        #expect(diagnostic.entity.name == "rel")
        #expect(diagnostic.constraints == ["rel_club_id_fkey", "rel_company_id_fkey", "rel_person_id_fkey"])
        #expect(diagnostic.message.contains("rel_club_id_fkey with rel_person_id_fkey"))
    }

    @Test func annotationChoosesThePair() throws {
        let schema = try ambiguous {
            $0.comment(onTable: "rel", #"@kindred {"manyToMany": ["rel_person_id_fkey", "rel_club_id_fkey"]}"#)
        }.schema()
        #expect(try schema.relationship("person", "clubSet")?.kind == .manyToMany)
        #expect(try schema.relationship("person", "companySet") == nil)
        #expect(!schema.diagnostics.contains { $0.code == .ambiguousHelper })
    }

    @Test func annotationTurnsAHelperOff() throws {
        let catalog = personAndTitle {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["title_id", "person_id"])
            $0.comment(onTable: "person_title_rel", #"@kindred {"manyToMany": false}"#)
        }
        #expect(try catalog.schema().relationship("person", "titleSet") == nil)
        let on = SchemaOverride.table(
            "person_title_rel",
            manyToMany: .pair("person_title_rel_title_id_fkey", "person_title_rel_person_id_fkey")
        )
        #expect(try catalog.schema([on]).relationship("person", "titleSet")?.kind == .manyToMany)
    }

    @Test func anOverrideTurnsAHelperOff() throws {
        let catalog = personAndTitle {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["title_id", "person_id"])
        }
        #expect(try catalog.schema().relationship("person", "titleSet") != nil)
        let off = SchemaOverride.table("person_title_rel", manyToMany: .noHelper)
        #expect(try catalog.schema([off]).relationship("person", "titleSet") == nil)
    }

    @Test func twoHelpersBetweenTwoTablesStayApart() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("film", ["id"], primaryKey: ["id"])
            for name in ["seen", "liked"] {
                $0.table(name, ["person_id", "film_id"], primaryKey: ["person_id", "film_id"])
                $0.foreignKey("\(name)_person_id_fkey", of: name, ["person_id"], to: "person")
                $0.foreignKey("\(name)_film_id_fkey", of: name, ["film_id"], to: "film")
            }
        }.schema()
        let person = try schema.entity(named: "person")
        #expect(person.relationship(named: "filmSet") == nil)
        #expect(
            person.relationships.filter { $0.kind == .manyToMany }.map(\.name) == ["liked_filmSet", "seen_filmSet"])
        #expect(person.relationship(named: "liked_filmSet")?.helper?.entity.name == "liked")
        #expect(
            try schema.entity(named: "film").relationships.filter { $0.kind == .manyToMany }.map(\.name)
                == ["liked_personSet", "seen_personSet"])
    }

    /// The schema of crates.io: users follow crates, and own them.
    @Test func helpersToOneTableAreNamedAfterThemselves() throws {
        let schema = try TestCatalog.make {
            $0.table("users", ["id"], primaryKey: ["id"])
            $0.table("crates", ["id"], primaryKey: ["id"])
            for (name, column) in [("follows", "user_id"), ("crate_owners", "owner_id")] {
                $0.table(name, ["crate_id", column], primaryKey: ["crate_id", column])
                $0.foreignKey("fk_\(name)_crate_id", of: name, ["crate_id"], to: "crates")
                $0.foreignKey("fk_\(name)_\(column)", of: name, [column], to: "users")
            }
        }.schema()
        #expect(
            try schema.entity(named: "users").relationships.filter { $0.kind == .manyToMany }.map(\.name)
                == ["crate_owners_cratesSet", "follows_cratesSet"])
        // Their columns tell these two apart.
        #expect(
            try schema.entity(named: "crates").relationships.filter { $0.kind == .manyToMany }.map(\.name)
                == ["ownerSet", "userSet"])
    }

    @Test func helpersOfATableWithItselfKeepTheirColumns() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            for (name, column) in [("friendship", "friend_id"), ("rivalry", "friend_id"), ("block", "blocked_id")] {
                $0.table(name, ["person_id", column], primaryKey: ["person_id", column])
                $0.foreignKey("\(name)_person_id_fkey", of: name, ["person_id"], to: "person")
                $0.foreignKey("\(name)_\(column)_fkey", of: name, [column], to: "person")
            }
        }.schema()
        #expect(
            try schema.entity(named: "person").relationships.filter { $0.kind == .manyToMany }.map(\.name) == [
                "block_personSet", "blockedSet", "friendship_friendSet", "friendship_personSet", "rivalry_friendSet",
                "rivalry_personSet",
            ])
    }

    @Test func directRelationshipsKeepTheTablesName() throws {
        // The notes that a user wrote, and the notes that a user subscribed to.
        let schema = try TestCatalog.make {
            $0.table("user", ["id"], primaryKey: ["id"])
            $0.table("note", ["id", "author_id"], primaryKey: ["id"])
            $0.table("subscription", ["user_id", "note_id"], primaryKey: ["user_id", "note_id"])
            $0.foreignKey("note_author_id_fkey", of: "note", ["author_id"], to: "user")
            $0.foreignKey("subscription_user_id_fkey", of: "subscription", ["user_id"], to: "user")
            $0.foreignKey("subscription_note_id_fkey", of: "subscription", ["note_id"], to: "note")
        }.schema()
        let user = try schema.entity(named: "user")
        #expect(user.relationships.map(\.name) == ["noteSet", "subscriptionSet", "subscription_noteSet"])
        #expect(user.relationship(named: "noteSet")?.inverse == "author")
        let subscribed = try #require(user.relationship(named: "subscription_noteSet"))
        #expect(subscribed.kind == .manyToMany && subscribed.inverse == "userSet")
        // Nothing leads from a note to its users directly, to many: that end is named as ever.
        #expect(
            try schema.entity(named: "note").relationships.map(\.name) == ["author", "subscriptionSet", "userSet"])
    }

    @Test func directOneToOneDoesNotNameTheHelper() throws {
        let schema = try TestCatalog.make {
            $0.table("user", ["id"], primaryKey: ["id"])
            $0.table("note", ["id", "author_id"], primaryKey: ["id"])
            $0.unique("u", of: "note", ["author_id"])
            $0.table("subscription", ["user_id", "text_id"], primaryKey: ["user_id", "text_id"])
            $0.foreignKey("note_author_id_fkey", of: "note", ["author_id"], to: "user")
            $0.foreignKey("subscription_user_id_fkey", of: "subscription", ["user_id"], to: "user")
            $0.foreignKey("subscription_text_id_fkey", of: "subscription", ["text_id"], to: "note")
        }.schema()
        #expect(
            try schema.entity(named: "user").relationships.map(\.name) == ["note", "noteSet", "subscriptionSet"])
        #expect(try schema.relationship("user", "textSet")?.name == "noteSet")
    }

    @Test func dependenciesOfTasksWithSubtasksStayApart() throws {
        let schema = try TestCatalog.make {
            $0.table("task", ["id", "parent_id"], primaryKey: ["id"])
            $0.table("dependency", ["task_id", "needed_id"], primaryKey: ["task_id", "needed_id"])
            $0.foreignKey("task_parent_id_fkey", of: "task", ["parent_id"], to: "task")
            $0.foreignKey("dependency_task_id_fkey", of: "dependency", ["task_id"], to: "task")
            $0.foreignKey("dependency_needed_id_fkey", of: "dependency", ["needed_id"], to: "task")
        }.schema()
        // The helper's name would be that of both ends, so that they are named by the columns.
        #expect(try schema.relationship("task", "taskSet")?.inverse == "parent")
        #expect(try schema.relationship("task", "neededSet")?.helper?.sourceColumns == ["task_id"])
    }

    /// person, task(author_id) and assignment(person_id, task_id); on request task has a second key to person.
    private func peopleAndTasks(hasSecondKey: Bool, _ body: (inout TestCatalog) -> Void = { _ in }) -> TestCatalog {
        .make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("task", ["id", "author_id", "reviewer_id"], primaryKey: ["id"])
            $0.table("assignment", ["person_id", "task_id"], primaryKey: ["person_id", "task_id"])
            $0.foreignKey("task_author_id_fkey", of: "task", ["author_id"], to: "person")
            if hasSecondKey { $0.foreignKey("task_reviewer_id_fkey", of: "task", ["reviewer_id"], to: "person") }
            $0.foreignKey("assignment_person_id_fkey", of: "assignment", ["person_id"], to: "person")
            $0.foreignKey("assignment_task_id_fkey", of: "assignment", ["task_id"], to: "task")
            body(&$0)
        }
    }

    @Test func aContestedNameDoesNotPassToAHelper() throws {
        let before = try peopleAndTasks(hasSecondKey: false).schema()
        #expect(try before.relationship("person", "taskSet")?.inverse == "author")
        let after = try peopleAndTasks(hasSecondKey: true).schema()
        #expect(try after.relationship("person", "taskSet") == nil)
        #expect(
            try after.entity(named: "person").relationships.map(\.name)
                == ["assignmentSet", "assignment_taskSet", "author_taskSet", "reviewer_taskSet"])
        let assigned = try #require(try after.relationship("person", "assignment_taskSet"))
        #expect(
            assigned.explanation.map(\.description).contains(
                "taskSet (table name): also claimed by author_taskSet, reviewer_taskSet"))
    }

    @Test func aContestedNameDoesNotPassToALowerLevel() throws {
        // The column task_id of a helper to another table has the base task, whose name two direct keys contest.
        let schema = try peopleAndTasks(hasSecondKey: true) {
            $0.table("chore", ["id"], primaryKey: ["id"])
            $0.table("turn", ["person_id", "task_id"], primaryKey: ["person_id", "task_id"])
            $0.foreignKey("turn_person_id_fkey", of: "turn", ["person_id"], to: "person")
            $0.foreignKey("turn_task_id_fkey", of: "turn", ["task_id"], to: "chore")
        }.schema()
        #expect(try schema.relationship("person", "taskSet") == nil)
        #expect(try schema.relationship("person", "choreSet")?.helper?.entity.name == "turn")
    }

    @Test func tablesOfAnotherSchemaKeepTheirNameToo() throws {
        // A table `title` of the person's own claims titleSet as well.
        let schema = try personAndTitle {
            $0.constraint("k", of: "person_title_rel", .primaryKey, ["title_id", "person_id"])
            $0.table("audit.title", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("title_person_id_fkey", of: "audit.title", ["person_id"], to: "person")
        }.schema()
        let person = try schema.entity(named: "person")
        #expect(person.relationship(named: "titleSet")?.destination.description == "audit.title")
        let many = try #require(person.relationships.first { $0.kind == .manyToMany })
        #expect(many.name == "person_title_rel_person_id_fkey")
    }
}
