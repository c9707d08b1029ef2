import KindredPostgres
import KindredSchema
import Testing

@Suite struct AnnotationTests {
    private func catalog(_ annotation: String? = nil, _ body: (inout TestCatalog) -> Void = { _ in }) -> TestCatalog {
        .make {
            $0.table("person", ["id", "firstname"], primaryKey: ["id"])
            $0.table("email", ["id", "address", "position", "person_id"], primaryKey: ["id"])
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person")
            if let annotation { $0.comment(onConstraint: "email_person_id_fkey", of: "email", annotation) }
            body(&$0)
        }
    }

    private func error(_ catalog: TestCatalog, _ overrides: [SchemaOverride] = []) throws -> SchemaError {
        let error = try #require(throws: SchemaError.self) { try catalog.schema(overrides) }
        #expect(error.code == .invalidAnnotation)
        return error
    }

    @Test func foreignKeyTakesNamesAndRules() throws {
        let schema = try catalog(
            #"@kindred {"name": "owner", "inverse": "emails", "deleteRule": "cascade", "toOneDeleteRule": "deny", "orderedBy": "position"}"#
        ).schema()
        let owner = try #require(try schema.relationship("email", "owner"))
        let emails = try #require(try schema.relationship("person", "emails"))
        #expect(owner.name == "owner" && owner.inverse == "emails" && owner.deleteRule == .deny)
        #expect(emails.name == "emails" && emails.inverse == "owner" && emails.deleteRule == .cascade)
        #expect(emails.orderedBy == "position" && owner.orderedBy == nil)
        #expect(owner.aliases.contains("person") && emails.aliases.contains("emailSet"))
    }

    @Test func overridesDoTheSameAndWin() throws {
        let override = SchemaOverride.foreignKey(
            "email_person_id_fkey",
            of: "public.email",
            name: "holder",
            toOneDeleteRule: .cascade
        )
        let schema = try catalog(#"@kindred {"name": "owner", "inverse": "emails"}"#).schema([override])
        #expect(try schema.entity(named: "email").relationships.map(\.name) == ["holder"])
        #expect(try schema.relationship("email", "owner") == nil)
        #expect(try schema.relationship("email", "holder")?.deleteRule == .cascade)
        #expect(try schema.relationship("person", "emails")?.inverse == "holder")
    }

    @Test func annotationsGoBeforeEverything() throws {
        // Another key's pair would like the same names, and a table the inverse's.
        let schema = try catalog(#"@kindred {"name": "author", "inverse": "letterSet"}"#) {
            $0.table("letter", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("letter_person_id_fkey", of: "letter", ["person_id"], to: "person")
        }.schema()
        #expect(try schema.relationship("person", "letterSet")?.destination.name == "email")
        #expect(try schema.relationship("person", "person_letterSet")?.destination.name == "letter")
    }

    @Test func lazyColumnsAreLeftOutUnlessObjectsNeedThem() throws {
        func marked(_ column: String) -> TestCatalog {
            catalog(#"@kindred {"orderedBy": "position"}"#) {
                $0.comment(onColumn: column, of: "email", #"@kindred {"lazy": true} for people"#)
            }
        }
        let attribute = try #require(try marked("address").schema().entity(named: "email").attribute(named: "address"))
        #expect(attribute.isLazy && attribute.comment == "for people")
        let override = SchemaOverride.column("address", of: "email", lazy: false)
        #expect(
            try marked("address").schema([override]).entity(named: "email").attribute(named: "address")?.isLazy == false
        )
        for (column, reason) in [
            ("id", "a column of the key cannot be lazy"), ("person_id", "a column of the relationship"),
            ("position", "orders the foreign key email_person_id_fkey"),
        ] {
            #expect(try error(marked(column)).message.contains(reason), "\(column)")
        }
        let keyless = TestCatalog.make {
            $0.table("log", ["line"])
            $0.comment(onColumn: "line", of: "log", #"@kindred {"lazy": true}"#)
        }
        #expect(try error(keyless).message.contains("loaded by the key, and public.log has none"))
        #expect(
            try error(catalog { $0.comment(onColumn: "address", of: "email", #"@kindred {"lazi": true}"#) })
                .message.contains("did you mean \"lazy\""))
    }

    /// A unique index is made for speed, too: it does not bring back what an annotation leaves out.
    @Test(arguments: ["ignore", "version"]) func annotatedColumnsMakeAnIndexNoKey(_ option: String) throws {
        func schema(_ others: (inout TestCatalog) -> Void = { _ in }) throws -> DatabaseSchema {
            try TestCatalog.make {
                $0.table("doc", ["name!", "part!", "code!"])
                $0.index(of: "doc", ["name", "part"])
                $0.comment(onColumn: "part", of: "doc", "@kindred {\"\(option)\": true}")
                others(&$0)
            }.schema()
        }
        if option == "ignore" {
            let doc = try schema().entity(named: "doc")
            #expect(doc.primaryKey.isEmpty && doc.attribute(named: "part") == nil)
        }
        let other = try schema { $0.index(of: "doc", ["code"]) }
        #expect(try other.entity(named: "doc").primaryKey == ["code"])
    }

    @Test func ignoredForeignKeyMakesNothing() throws {
        let schema = try catalog(#"@kindred {"ignore": true}"#).schema()
        #expect(schema.entities.allSatisfy { $0.relationships.isEmpty })
    }

    @Test func ignoredTableIsNoEntity() throws {
        let schema = try catalog { $0.comment(onTable: "person", #"@kindred {"ignore": true}"#) }.schema()
        #expect(schema.entities.map(\.name.name) == ["email"])
        #expect(schema.entities[0].relationships.isEmpty)
        let error = try #require(throws: SchemaError.self) { try schema.entity(named: "person") }
        #expect(error.message == "public.person is ignored by an annotation")
    }

    @Test func ignoredColumnIsNoAttribute() throws {
        let schema = try catalog {
            $0.comment(onColumn: "firstname", of: "person", #"@kindred {"ignore": true}"#)
        }.schema()
        #expect(try schema.entity(named: "person").attributes.map(\.name) == ["id"])
    }

    @Test func declaredKeyIdentifiesViewsAndTables() throws {
        let schema = try catalog {
            $0.table("recent", ["address", "id"], kind: "v")
            $0.table("log", ["at", "line"])
            $0.comment(onTable: "recent", #"@kindred {"key": "id"}"#)
            $0.comment(onTable: "log", #"@kindred {"key": ["at", "line"]} Lines of the log."#)
        }.schema()
        #expect(try schema.entity(named: "recent").primaryKey == ["id"])
        #expect(try schema.entity(named: "recent").isReadOnly == false)
        #expect(try schema.entity(named: "log").primaryKey == ["at", "line"])
        #expect(try schema.entity(named: "log").comment == "Lines of the log.")
    }

    @Test func commentsForPeopleStay() throws {
        let schema = try catalog {
            $0.comment(onTable: "person", "People we write to.")
            $0.comment(onTable: "email", "@kindredness is a word")
            $0.comment(onColumn: "id", of: "person", "  @kindred is not at the beginning")
            $0.comment(onColumn: "firstname", of: "person", "@kindred {}\nGiven name.")
        }.schema()
        let person = try schema.entity(named: "person")
        #expect(person.comment == "People we write to.")
        #expect(try schema.entity(named: "email").comment == "@kindredness is a word")
        #expect(person.attribute(named: "id")?.comment == "  @kindred is not at the beginning")
        #expect(person.attribute(named: "firstname")?.comment == "Given name.")
    }

    @Test func bracesInStringsDoNotEndTheObject() throws {
        let schema = try catalog(#"@kindred {"name": "a}\"{b"} and more"#).schema()
        #expect(try schema.entity(named: "email").relationships.map(\.name) == [#"a}"{b"#])
    }

    @Test(arguments: [
        (#"@kindred"#, "a JSON object must follow @kindred"),
        (#"@kindred name=owner"#, "a JSON object must follow @kindred"),
        (#"@kindred {"name": "owner""#, "its JSON object does not end"),
        (#"@kindred {"name": owner}"#, "its JSON is malformed"),
        (#"@kindred {'name': 'owner'}"#, "its JSON is malformed"),
        (
            "@kindred {\"name\": \(String(repeating: "[", count: 30_000))\(String(repeating: "]", count: 30_000))}",
            "its JSON is malformed"
        ),
        (
            "@kindred \(String(repeating: "{\"a\":", count: 20_000))1\(String(repeating: "}", count: 20_000))",
            "its JSON is longer than 65,536 bytes"
        ),
        (#"@kindred {"nmae": "owner"}"#, #""nmae" is unknown here; did you mean "name"?"#),
        (
            #"@kindred {"key": ["id"]}"#,
            #"""
            "key" is unknown here; known are "deleteRule", "ignore", "inverse", "manyToMany", "manyToManyDeleteRule", \#
            "maximumCount", "minimumCount", "name", "orderedBy", "toOneDeleteRule"
            """#
        ),
        (#"@kindred {"name": 5}"#, #""name" must be a name"#),
        (#"@kindred {"name": ""}"#, #""name" must be a name"#),
        (#"@kindred {"name": null}"#, #""name" must be a name"#),
        (#"@kindred {"name": {"a": 1}}"#, #""name" must be a name"#),
        (
            #"@kindred {"ignore": "yes"}"#,
            #""ignore" must be true or false, or a list of rules such as ["K101"]"#
        ),
        (
            #"@kindred {"ignore": ["K101", "K1"]}"#,
            #""ignore" must be true or false, or a list of rules such as ["K101"]"#
        ),
        (
            #"@kindred {"deleteRule": "restrict"}"#,
            #""deleteRule" must be one of "nullify", "cascade", "deny", "noAction""#
        ),
        (#"@kindred {"orderedBy": "place"}"#, #""orderedBy" names no column: there is no "place""#),
        (
            #"@kindred {"orderedBy": "person_id"}"#,
            #""orderedBy" must not name a column of the foreign key itself: "person_id""#
        ),
        (#"@kindred {"manyToMany": "friends"}"#, "it names a many-to-many relationship, but the key makes none"),
        (
            #"@kindred {"manyToManyDeleteRule": "cascade"}"#,
            "it names a many-to-many relationship, but the key makes none"
        ),
        (#"@kindred {"name": "address"}"#, #""address" clashes: public.email has an attribute of this name"#),
        (#"@kindred {"inverse": "id"}"#, #""id" clashes: public.person has an attribute of this name"#),
    ])
    func malformedAnnotationOnAForeignKeyIsAnError(_ comment: String, _ reason: String) throws {
        let error = try error(catalog(comment))
        let location = "the comment on constraint email_person_id_fkey of public.email"
        #expect(error.message == "The schema's annotations do not fit: \(location): \(reason)")
        #expect(error.location == location)
    }

    @Test(arguments: [
        (
            #"@kindred {"name": "x"}"#,
            #"""
            "name" is unknown here; known are "filter", "group", "ignore", "key", "manyToMany", \#
            "optimisticLocking", "relationships", "softDelete", "tenant"
            """#
        ),
        (#"@kindred {"key": []}"#, #""key" must be a list of names"#),
        (#"@kindred {"key": ["id", 5]}"#, #""key" must be a list of names"#),
        (#"@kindred {"key": ["nothing"]}"#, #""key" names no column: there is no "nothing""#),
        (#"@kindred {"key": ["id", "id"]}"#, #""key" names "id" twice"#),
        (#"@kindred {"manyToMany": true}"#, #""manyToMany" must be false or the names of two foreign keys"#),
        (
            #"@kindred {"manyToMany": ["a", "b"]}"#,
            #""manyToMany" names no pair: a and b do not make the table a helper"#
        ),
    ])
    func malformedAnnotationOnATableIsAnError(_ comment: String, _ reason: String) throws {
        let error = try error(catalog { $0.comment(onTable: "email", comment) })
        #expect(error.message.hasSuffix("the comment on public.email: \(reason)"))
        #expect(error.entity == "public.email")
    }

    @Test func annotationOnAnotherConstraintNamesNothing() throws {
        let error = try error(
            catalog { $0.comment(onConstraint: "email_pkey", of: "email", #"@kindred {"name": "x"}"#) }
        )
        #expect(error.location == "the comment on constraint email_pkey of public.email")
        #expect(error.message.hasSuffix("the constraint is not a foreign key"))
    }

    @Test func rulesThatAreIgnoredChangeNothingOfTheModel() throws {
        let model = try catalog(#"@kindred {"ignore": ["K101", "K203"]}"#) {
            $0.comment(onConstraint: "email_pkey", of: "email", #"@kindred {"ignore": "K301"}"#)
            $0.comment(onTable: "person", #"@kindred {"ignore": ["K101"]} people"#)
            $0.comment(onColumn: "person_id", of: "email", #"@kindred {"ignore": ["K210"]}"#)
        }.schema()
        let plain = try catalog { $0.comment(onTable: "person", "people") }.schema()
        #expect(model.entities == plain.entities)
    }

    @Test(arguments: ["id", "person_id"])
    func columnsOfKeysCannotBeIgnored(_ column: String) throws {
        let error = try error(catalog { $0.comment(onColumn: column, of: "email", #"@kindred {"ignore": true}"#) })
        #expect(error.location == "the comment on column \(column) of public.email")
    }

    @Test func twoAnnotationsThatClashAreBothNamed() throws {
        let error = try error(
            catalog(#"@kindred {"inverse": "items"}"#) {
                $0.table("letter", ["id", "person_id"], primaryKey: ["id"])
                $0.foreignKey("letter_person_id_fkey", of: "letter", ["person_id"], to: "person")
                $0.comment(onConstraint: "letter_person_id_fkey", of: "letter", #"@kindred {"inverse": "items"}"#)
            }
        )
        #expect(error.message.contains("that of the foreign key letter_person_id_fkey of public.letter"))
        #expect(error.message.contains("that of the foreign key email_person_id_fkey of public.email"))
        #expect(
            error.message.contains("the comment on constraint email_person_id_fkey of public.email: \"items\" clashes"))
    }

    @Test func everyProblemIsReportedAtOnce() throws {
        let error = try error(
            catalog(#"@kindred {"nmae": "x", "ignore": 1}"#) { $0.comment(onTable: "person", "@kindred {") }
        )
        #expect(error.message.contains("\"nmae\"") && error.message.contains("\"ignore\""))
        #expect(error.message.contains("does not end"))
    }

    @Test(arguments: [
        (SchemaOverride.table("people", ignore: true), "there is no such table"),
        (.foreignKey("nothing", of: "email", name: "x"), "there is no such foreign key"),
        (.foreignKey("email_pkey", of: "email", name: "x"), "there is no such foreign key"),
        (.foreignKey("email_person_id_fkey", of: "email", name: ""), "a name is empty"),
        (.column("nothing", of: "email", ignore: true), "there is no such column"),
        (.table("email", key: ["nothing"]), #""key" names no column: there is no "nothing""#),
        (.foreignKey("email_person_id_fkey", of: "email", name: "id"), "has an attribute of this name"),
    ])
    func overrideThatNamesNothingIsAnError(_ override: SchemaOverride, _ reason: String) throws {
        let error = try error(catalog(), [override])
        #expect(error.message.contains(reason))
        #expect(error.location?.hasPrefix("the override for ") == true)
    }

    @Test func repeatedKeysMayNotContradictEachOther() throws {
        let error = try error(
            catalog(#"@kindred {"deleteRule": "cascade"}"#) {
                $0.foreignKey("zweiter", of: "email", ["person_id"], to: "person")
                $0.comment(onConstraint: "zweiter", of: "email", #"@kindred {"deleteRule": "deny"}"#)
            }
        )
        #expect(error.message.contains("\"deleteRule\" contradicts the comment on constraint email_person_id_fkey"))
    }

    // MARK: Helpers

    private func helper(_ first: String?, _ second: String? = nil) -> TestCatalog {
        .make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("title", ["id"], primaryKey: ["id"])
            $0.table("rel", ["person_id", "title_id", "position"], primaryKey: ["person_id", "title_id"])
            $0.foreignKey("rel_person_id_fkey", of: "rel", ["person_id"], to: "person")
            $0.foreignKey("rel_title_id_fkey", of: "rel", ["title_id"], to: "title")
            if let first { $0.comment(onConstraint: "rel_person_id_fkey", of: "rel", first) }
            if let second { $0.comment(onConstraint: "rel_title_id_fkey", of: "rel", second) }
        }
    }

    @Test func helpersKeyNamesTheManyToManyRelationshipOfTheTableItRefersTo() throws {
        let schema = try helper(
            #"@kindred {"manyToMany": "honours", "manyToManyDeleteRule": "cascade", "orderedBy": "position"}"#,
            #"@kindred {"manyToMany": "holders"}"#
        ).schema()
        let honours = try #require(try schema.relationship("person", "honours"))
        #expect(honours.kind == .manyToMany && honours.inverse == "holders" && honours.deleteRule == .cascade)
        #expect(honours.orderedBy == "position")
        #expect(try schema.relationship("person", "relSet")?.orderedBy == "position")
        #expect(try schema.relationship("title", "holders")?.deleteRule == .nullify)
        #expect(try schema.relationship("title", "holders")?.orderedBy == nil)
    }

    @Test func nameOfAHelpersKeyServesBothEnds() throws {
        let schema = try helper(#"@kindred {"name": "honours"}"#).schema()
        #expect(try schema.relationship("person", "honours")?.kind == .manyToMany)
        #expect(try schema.relationship("rel", "honours")?.destination.name == "person")
    }

    @Test func nameOfAHelpersKeyGivesWayWithoutAnError() throws {
        // `id` is an attribute of person, so that only the helper can have it.
        let schema = try helper(#"@kindred {"name": "id"}"#).schema()
        #expect(try schema.relationship("rel", "id")?.destination.name == "person")
        #expect(try schema.relationship("person", "titleSet")?.kind == .manyToMany)
    }

    @Test func ignoredKeyMakesNoHelper() throws {
        let schema = try helper(#"@kindred {"ignore": true}"#).schema()
        #expect(try schema.entity(named: "person").relationships.isEmpty)
        #expect(try schema.entity(named: "title").relationships.map(\.name) == ["relSet"])
    }

    @Test func aVersionIsAColumnOrXmin() throws {
        func versioned(_ type: PostgresDataType = .int4, _ body: (inout TestCatalog) -> Void) -> TestCatalog {
            catalog {
                $0.modifyColumn("position", of: "email") {
                    $0.type = type.rawValue
                    $0.hasDefault = true
                    $0.isNotNull = true
                }
                body(&$0)
            }
        }
        let column = versioned { $0.comment(onColumn: "position", of: "email", #"@kindred {"version": true} a count"#) }
        let email = try column.schema().entity(named: "email")
        #expect(email.optimisticLocking == .column("position"))
        #expect(email.attribute(named: "position")?.comment == "a count")
        let off = SchemaOverride.column("position", of: "email", version: false)
        #expect(try column.schema([off]).entity(named: "email").optimisticLocking == nil)
        let xmin = try catalog { $0.comment(onTable: "email", #"@kindred {"optimisticLocking": "xmin"}"#) }.schema()
        #expect(try xmin.entity(named: "email").optimisticLocking == .xmin)
        #expect(try xmin.entity(named: "email").attributes.filter(\.isHidden).map(\.name) == ["xmin"])
        #expect(try xmin.entity(named: "person").optimisticLocking == nil)
        let named = versioned(.timestamptz) {
            $0.comment(onTable: "email", #"@kindred {"optimisticLocking": "position"}"#)
        }
        #expect(try named.schema().entity(named: "email").optimisticLocking == .column("position"))
    }

    @Test(arguments: [
        ("address", #"{"version": true}"#, "an integer or a timestamp"), ("id", #"{"version": true}"#, "part of a key"),
        ("position", #"{"version": true}"#, "must be NOT NULL"), ("position", #"{"version": 1}"#, "true or false"),
        ("", #"{"optimisticLocking": "nothing"}"#, "there is no column"),
        ("", #"{"optimisticLocking": true}"#, "must be a name"),
    ])
    func aVersionThatCannotBeOneIsAnError(column: String, annotation: String, reason: String) throws {
        let error = try error(
            catalog {
                $0.modifyColumn("address", of: "email") { $0.type = PostgresDataType.text.rawValue }
                $0.modifyColumn("position", of: "email") { $0.isNotNull = false }
                if column.isEmpty {
                    $0.comment(onTable: "email", "@kindred \(annotation)")
                } else {
                    $0.comment(onColumn: column, of: "email", "@kindred \(annotation)")
                }
            })
        #expect(error.message.contains(reason), "\(error)")
    }

    @Test func aTableHasAFilterAndAColumnThatMarksDeletedRows() throws {
        func marked(_ type: PostgresDataType = .timestamptz) -> TestCatalog {
            catalog {
                $0.modifyColumn("position", of: "email") { $0.type = type.rawValue }
                $0.comment(onTable: "email", #"@kindred {"softDelete": "position", "filter": "address != nil"}"#)
            }
        }
        let email = try marked().schema().entity(named: "email")
        #expect(email.softDelete == "position" && email.filter == "address != nil")
        let person = try marked().schema().entity(named: "person")
        #expect(person.softDelete == nil && person.filter == nil)
        let override = SchemaOverride.table("person", filter: "firstname == nil")
        #expect(try marked(.timestamp).schema([override]).entity(named: "person").filter == "firstname == nil")
        #expect(try error(marked(.text)).message.contains("marked as deleted by a timestamp"))
        #expect(try error(marked(.bool)).message.contains("marked as deleted by a timestamp"))
        for (name, reason) in [("nothing", "there is no column"), ("person_id", "a timestamp")] {
            let other = SchemaOverride.table("email", softDelete: name)
            #expect(try error(marked(), [other]).message.contains(reason))
        }
        let required = catalog {
            $0.modifyColumn("position", of: "email") {
                $0.type = PostgresDataType.timestamptz.rawValue
                $0.isNotNull = true
            }
            $0.comment(onTable: "email", #"@kindred {"softDelete": "position"}"#)
        }
        #expect(try error(required).message.contains("must take NULL"))
        let wrong = try error(catalog { $0.comment(onTable: "email", #"@kindred {"filter": 1, "softDelete": true}"#) })
        #expect(wrong.message.contains(#""filter" must be a condition"#))
        #expect(wrong.message.contains(#""softDelete" must be a column"#))
    }

    @Test func aTableBelongsToTheGroupOfItsCommentOrOverride() throws {
        let grouped = catalog { $0.comment(onTable: "email", #"@kindred {"group": "contacts"} addresses"#) }
        let email = try grouped.schema().entity(named: "email")
        #expect(email.group == "contacts" && email.comment == "addresses")
        #expect(try grouped.schema().entity(named: "person").group == nil)
        #expect(try grouped.schema([.table("email", group: "mail")]).entity(named: "email").group == "mail")
        #expect(try email != grouped.schema([.table("email", group: "mail")]).entity(named: "email"))
        let wrong = try error(catalog { $0.comment(onTable: "email", #"@kindred {"group": 1}"#) })
        #expect(wrong.message.contains(#""group" must be a name"#))
        #expect(throws: SchemaError.self) { try grouped.schema([.table("email", group: "")]) }
    }

    @Test func positionsCannotBeInAnIgnoredColumn() throws {
        let error = try error(
            TestCatalog.make {
                $0.table("person", ["id"], primaryKey: ["id"])
                $0.table("email", ["id", "person_id", "position"], primaryKey: ["id"])
                $0.foreignKey("owner", of: "email", ["person_id"], to: "person")
                $0.modifyColumn("position", of: "email") { $0.type = 23 }
                $0.comment(onColumn: "position", of: "email", #"@kindred {"ignore": true}"#)
                $0.comment(onConstraint: "owner", of: "email", #"@kindred {"orderedBy": "position"}"#)
            })
        #expect(error.message.hasSuffix(#""orderedBy" names "position", which is ignored"#))
    }

    @Test func aViewOfAnIgnoredTableHasItsKey() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "name"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("owner", of: "email", ["person_id"], to: "person")
            $0.table("people", ["id", "name"])
            $0.projection("people", of: "person", ["id": "id", "name": "name"])
            $0.comment(onTable: "person", #"@kindred {"ignore": true, "key": ["nothing"]}"#)
        }.schema()
        #expect(try schema.entity(named: "people").primaryKey == ["id"])
        #expect(schema.entities.map(\.name.name) == ["email", "people"])
        #expect(try schema.entity(named: "email").relationships.isEmpty && schema.diagnostics.isEmpty)
    }
}
