import Kindred
import KindredTesting
import Testing

/// Keys of types whose operators are in a schema that no search path names.
@Suite struct OwnOperatorTests {
    /// A type, and values of it.
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: String
        /// The keys of two owners, in the order of the type.
        let keys: [String]
        /// The keys in the form of the rows that refer to them.
        let forms: [String]
        /// Whether the schema has min and max of the type.
        var hasTotals = false

        var testDescription: String { type }

        var schema: String {
            func literals(_ texts: [String]) -> [String] { texts.map { "'\($0)'" } }
            let (key, form) = (literals(keys), literals(forms))
            return """
                CREATE TABLE owner (key \(type) PRIMARY KEY, size integer);
                CREATE TABLE entry (
                    id integer PRIMARY KEY, place \(type), note \(type),
                    owner_key \(type) CONSTRAINT owner__entries REFERENCES owner ON UPDATE CASCADE ON DELETE CASCADE);
                CREATE TABLE tag (label \(type), number integer, PRIMARY KEY (label, number));
                CREATE TABLE owner_tag (
                    owner_key \(type) CONSTRAINT owner__pairs REFERENCES owner, tag_key \(type), number integer,
                    CONSTRAINT tag__pairs FOREIGN KEY (tag_key, number) REFERENCES tag, PRIMARY KEY (owner_key, tag_key, number));
                CREATE TABLE list (id integer PRIMARY KEY, keys \(type)[]);
                INSERT INTO owner VALUES (\(key[0]), 1), (\(key[1]), 2);
                INSERT INTO entry VALUES (1, \(key[0]), \(form[0]), \(form[0])), (2, \(key[0]), \(key[1]), \(key[0])),
                    (3, NULL, NULL, \(form[1])), (4, \(key[1]), NULL, NULL);
                INSERT INTO tag VALUES (\(key[0]), 1), (\(key[1]), 1), (\(key[1]), 2);
                INSERT INTO owner_tag VALUES (\(form[0]), \(form[1]), 2), (\(form[1]), \(key[0]), 1);
                INSERT INTO list VALUES (1, ARRAY[\(key[0]), \(key[1])]::\(type)[]), (2, ARRAY[\(key[1])]::\(type)[]);
                """
        }
    }

    /// A type of the user's with operators of other names in a schema.
    private static func word(_ schema: String) -> String {
        """
        CREATE TYPE \(schema).word;
        CREATE FUNCTION \(schema).word_in(cstring) RETURNS \(schema).word LANGUAGE internal IMMUTABLE STRICT AS 'textin';
        CREATE FUNCTION \(schema).word_out(\(schema).word) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
        CREATE TYPE \(schema).word (INPUT = \(schema).word_in, OUTPUT = \(schema).word_out, LIKE = text);
        CREATE FUNCTION \(schema).word_eq(\(schema).word, \(schema).word) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'byteaeq';
        CREATE FUNCTION \(schema).word_lt(\(schema).word, \(schema).word) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'bytealt';
        CREATE FUNCTION \(schema).word_le(\(schema).word, \(schema).word) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'byteale';
        CREATE FUNCTION \(schema).word_gt(\(schema).word, \(schema).word) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'byteagt';
        CREATE FUNCTION \(schema).word_ge(\(schema).word, \(schema).word) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'byteage';
        CREATE FUNCTION \(schema).word_cmp(\(schema).word, \(schema).word) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'byteacmp';
        CREATE FUNCTION \(schema).word_hash(\(schema).word) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashvarlena';
        CREATE OPERATOR \(schema).=== (FUNCTION = \(schema).word_eq, LEFTARG = \(schema).word, RIGHTARG = \(schema).word, COMMUTATOR = OPERATOR(\(schema).===), HASHES, MERGES);
        CREATE OPERATOR \(schema).<<< (FUNCTION = \(schema).word_lt, LEFTARG = \(schema).word, RIGHTARG = \(schema).word);
        CREATE OPERATOR \(schema).<<= (FUNCTION = \(schema).word_le, LEFTARG = \(schema).word, RIGHTARG = \(schema).word);
        CREATE OPERATOR \(schema).>>> (FUNCTION = \(schema).word_gt, LEFTARG = \(schema).word, RIGHTARG = \(schema).word);
        CREATE OPERATOR \(schema).>>= (FUNCTION = \(schema).word_ge, LEFTARG = \(schema).word, RIGHTARG = \(schema).word);
        CREATE OPERATOR CLASS \(schema).word_ops DEFAULT FOR TYPE \(schema).word USING btree AS
            OPERATOR 1 \(schema).<<<, OPERATOR 2 \(schema).<<=, OPERATOR 3 \(schema).===, OPERATOR 4 \(schema).>>=, OPERATOR 5 \(schema).>>>,
            FUNCTION 1 \(schema).word_cmp(\(schema).word, \(schema).word);
        CREATE OPERATOR CLASS \(schema).word_hash_ops DEFAULT FOR TYPE \(schema).word USING hash AS
            OPERATOR 1 \(schema).===, FUNCTION 1 \(schema).word_hash(\(schema).word);
        """
    }

    private static let types = """
        CREATE SCHEMA ext;
        CREATE EXTENSION citext SCHEMA ext;
        CREATE EXTENSION ltree SCHEMA ext;
        CREATE EXTENSION hstore SCHEMA ext;
        CREATE DOMAIN code AS ext.citext CHECK (length(VALUE) > 0);
        \(word("ext"))
        """

    private static let kinds = [
        Kind(type: "ext.citext", keys: ["Ab", "cd"], forms: ["aB", "CD"], hasTotals: true),
        Kind(type: "code", keys: ["Ab", "cd"], forms: ["aB", "CD"], hasTotals: true),
        Kind(type: "ext.ltree", keys: ["a.b", "c"], forms: ["a.b", "c"]),
        Kind(type: "ext.hstore", keys: ["", #""a"=>"1""#], forms: ["", #""a"=>"1""#]),
        Kind(type: "ext.word", keys: ["ab", "cd"], forms: ["ab", "cd"]),
    ]

    private func made(_ kind: Kind) async throws {
        try await withClient { try await $0.runScript(kind.schema) }
    }

    private func ids(
        _ context: DatabaseContext, _ condition: String, _ arguments: (any PropertyValue)?...
    ) async throws -> [Int] {
        try await context.fetch("entry").where(condition, arguments: arguments).sorted("id").all().map {
            try $0.storedID
        }
    }

    @Test(.database(.sql(types)), arguments: kinds) func conditionsCompareAsTheTypeDoes(_ kind: Kind) async throws {
        try await made(kind)
        try await withDatabase { _, context, _ in
            let (first, second) = (kind.forms[0], kind.forms[1])
            #expect(try await ids(context, "place == %@", first) == [1, 2])
            #expect(try await ids(context, "%@ == place", first) == [1, 2])
            #expect(try await ids(context, "place != %@", first) == [3, 4])
            #expect(try await ids(context, "place == note") == [1, 3])
            #expect(try await ids(context, "place != note") == [2, 4])
            #expect(try await ids(context, "NOT (place == note)") == [2, 4])
            #expect(try await ids(context, "place IN %@", [first, second]) == [1, 2, 4])
            #expect(try await ids(context, "NOT place IN %@", [first]) == [3, 4])
            #expect(try await ids(context, "place IN {note, %@}", second) == [1, 3, 4])
            #expect(try await ids(context, "place BETWEEN {%@, %@}", first, second) == [1, 2, 4])
            #expect(try await ids(context, "NOT (place BETWEEN {%@, %@})", second, second) == [1, 2, 3])
            #expect(try await ids(context, "place < %@", second) == [1, 2])
            #expect(try await ids(context, "place >= %@", second) == [4])
            #expect(try await ids(context, "owner.key == %@", first) == [1, 2])
            #expect(try await ids(context, "owner.size == 1") == [1, 2])
            #expect(try await ids(context, "owner.key == place") == [1, 2])
            let owners = try await context.fetch("owner").sorted("key").all()
            #expect(owners.count == 2)
            #expect(try await ids(context, "owner == %@", owners[0]) == [1, 2])
            #expect(try await ids(context, "owner IN %@", [owners[0], owners[1]]) == [1, 2, 3])
            func sizes(_ condition: String, _ arguments: (any PropertyValue)?...) async throws -> [PostgresValue?] {
                try await context.fetch("owner").where(condition, arguments: arguments).sorted("size").all().map {
                    $0["size"]
                }
            }
            #expect(try await sizes("ANY entries.place == %@", first) == [1])
            #expect(try await sizes("entries.@count == 2") == [1])
            #expect(try await sizes("ANY tagSet.label == %@", second) == [1])
            #expect(try await sizes("ANY tagSet.number == 2") == [1])
            let lists = try await context.fetch("list").where("keys CONTAINS %@", first).all()
            #expect(try lists.map { try $0.storedID } == [1])
            let any = try await context.fetch("list").where("ANY keys == %@", second).all()
            #expect(any.count == 2)
            let groups = try await context.fetch("entry").group(by: "place", aggregates: .count).all()
            #expect(groups.count == 3)
        }
    }
    @Test(.database(.sql(types)), arguments: kinds) func relationshipsHaveAllTheirMembers(_ kind: Kind) async throws {
        try await made(kind)
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("key").prefetch("entries", "tagSet").all()
            let sets = try await owners.asyncMap { try await $0.set(forKey: "entries").objects.map { try $0.storedID } }
            #expect(sets.map { $0.sorted() } == [[1, 2], [3]])
            let tags = try await owners.asyncMap { try await $0.set(forKey: "tagSet").objects.map { $0["number"] } }
            #expect(tags == [[2], [1]])
            // Without objects from earlier reads.
            let fresh = database.makeContext()
            let entries = try await fresh.fetch("entry").sorted("id").all()
            let owner = try #require(await entries[0].object(forKey: "owner"))
            #expect(try await entries[1].object(forKey: "owner") === owner)
            #expect(try await entries[3].object(forKey: "owner") == nil)
            let set = try await owner.set(forKey: "entries")
            #expect(try await set.count == 2)
            #expect(try await set.contains(entries[1]))
            #expect(try await !set.contains(entries[2]))
            let labels = try await owner.set(forKey: "tagSet")
            #expect(try await labels.count == 1)
            let parts = try await database.makeContext().fetch("owner").sorted("key")
                .prefetch("entries") { $0.sorted("id", ascending: false).limit(1) }
                .prefetch("tagSet") { $0.where("label >= %@", kind.keys[0]).sorted("label") }.all()
            let last = try await parts.asyncMap {
                try await $0.set(forKey: "entries").sorted("id", ascending: false).limit(1).all().map {
                    try $0.storedID
                }
            }
            #expect(last == [[2], [3]])
            // Both sides of the pairs.
            let tag = try await fresh.fetch("tag").where("number == 2").one()
            #expect(try await tag.set(forKey: "ownerSet").objects.map { $0["size"] } == [1])
        }
    }

    /// Values of types that the library does not know have no form in a cursor.
    @Test(.database(.sql(types)), arguments: kinds.filter { $0.type != "ext.word" }) func pagesShowEachRowOnce(
        _ kind: Kind
    ) async throws {
        try await made(kind)
        try await withDatabase { _, context, _ in
            for (entity, keys, count) in [("owner", ["key"], 2), ("entry", ["place"], 4), ("tag", ["label"], 3)] {
                var request = try context.fetch(entity)
                for key in keys { request = try request.sorted(key) }
                let all = try await request.all()
                var page = try await request.page(size: 1)
                var shown = page.objects
                while let next = page.next {
                    page = try await request.page(size: 1, after: next)
                    shown += page.objects
                }
                #expect(shown.count == count && Set(shown.map(ObjectIdentifier.init)).count == count, "\(entity)")
                #expect(all.count == count)
            }
        }
    }

    @Test(.database(.sql(types)), arguments: kinds) func writesFindTheirRows(_ kind: Kind) async throws {
        try await made(kind)
        try await withDatabase { database, context, other in
            let (first, second) = (kind.forms[0], kind.forms[1])
            // An upsert by the key, of one row and of several.
            let upserted = try await context.upsert("owner", ["key": first, "size": 7], on: "key")
            let known = try await context.fetch("owner").where("key == %@", first).one()
            #expect(upserted === known)
            try await context.upsert(
                "owner", [["key": first, "size": 8], ["key": second, "size": 9]], on: "key")
            #expect(try await other.values("SELECT size FROM owner ORDER BY size") == [8, 9])
            // A save of rows that are found by their keys, and of references.
            let owners = try await context.fetch("owner").sorted("key").all()
            for (place, owner) in owners.enumerated() { owner["size"] = place + 20 }
            let entries = try await context.fetch("entry").sorted("id").all()
            entries[3]["owner_key"] = first
            try await context.save()
            #expect(try await other.values("SELECT size FROM owner ORDER BY size") == [20, 21])
            let set = try await owners[0].set(forKey: "entries")
            #expect(try await set.count == 3)
            try await set.remove(entries[1])
            #expect(try await other.values("SELECT id FROM entry WHERE owner_key IS NULL") == [2])
            try await set.insert(entries[1])
            try await set.removeAll()
            #expect(try await other.values("SELECT id FROM entry WHERE owner_key IS NOT NULL") == [3])
            // Pairs.
            let tags = try await context.fetch("tag").sorted("label").sorted("number").all()
            let pairs = try await owners[0].set(forKey: "tagSet")
            try await pairs.formUnion(tags)
            #expect(try await other.value("SELECT count(*) FROM owner_tag") == 4)
            try await pairs.remove(tags[0])
            try await pairs.set([tags[1]])
            #expect(try await other.values("SELECT number FROM owner_tag ORDER BY 1") == [1, 1])
            try await pairs.removeAll()
            #expect(try await other.value("SELECT count(*) FROM owner_tag") == 1)
            // By condition, and by objects.
            #expect(try await context.fetch("entry").where("place == %@", first).update(["note": second]) == 2)
            try await context.delete(owners[0])
            #expect(try await other.value("SELECT count(*) FROM owner") == 1)
            #expect(try await context.fetch("owner").where("key == %@", second).delete() == 1)
            #expect(try await other.value("SELECT count(*) FROM owner_tag") == 0)
        }
    }

    @Test(.database(.sql(types)), arguments: kinds) func aggregatesAreThoseOfTheTypesSchema(_ kind: Kind) async throws {
        try await made(kind)
        try await withDatabase { _, context, _ in
            let entries = try context.fetch("entry")
            guard kind.hasTotals else {
                let error = await expectError(.invalidRequest) { _ = try await entries.minimum("place") }
                #expect(error?.message.contains("whose schema ext has no aggregate min of it") == true)
                return
            }
            // By their bytes, capital letters come before all small ones.
            try await context.create("entry", ["id": 9, "place": "CE"])
            #expect(try await entries.minimum("place") == .string(kind.keys[0]))
            #expect(try await entries.maximum("place") == "CE")
            #expect(try await entries.where("place BEGINSWITH %@", "A").count() == 2)
            #expect(try await entries.where("place LIKE %@", "a*").count() == 2)
            #expect(try await entries.where("place CONTAINS note").count() == 1)
            #expect(try await entries.where("place ENDSWITH note AND place BEGINSWITH note").count() == 1)
        }
    }

    /// A tenant's tables, with keys of a type that all tenants share, and of a type that the tenant has for itself.
    private static func tenant(_ schema: String) -> String {
        """
        CREATE SCHEMA \(schema);
        \(word(schema))
        CREATE TABLE \(schema).owner (key ext.citext PRIMARY KEY, word \(schema).word UNIQUE);
        CREATE TABLE \(schema).entry (
            id integer PRIMARY KEY, owner_key ext.citext CONSTRAINT owner__entries REFERENCES \(schema).owner,
            word \(schema).word CONSTRAINT writer__texts REFERENCES \(schema).owner (word));
        INSERT INTO \(schema).owner VALUES ('Ab', 'x'), ('cd', 'y');
        INSERT INTO \(schema).entry VALUES (1, 'aB', 'x'), (2, 'AB', 'y'), (3, 'CD', 'y');

        """
    }

    @Test(.database(.sql(types + ["tenant_template", "acme", "beta"].map(tenant).joined())))
    func tenantsWithSchemasShareTextsWithTheirOwnOperators() async throws {
        try await withSchemaTenants { database, other in
            var entities: [[Entity]] = []
            for name in ["acme", "beta"] {
                let tenant = try await database.tenant(name)
                entities.append(tenant.schema.entities)
                let context = tenant.makeContext()
                let (owners, recorder) = try await recordingStatements {
                    try await context.fetch("owner").where("word == %@", "y").prefetch("entries", "texts").all()
                }
                #expect(recorder.statements.contains { $0.contains("OPERATOR(\"\(name)\".===)") })
                #expect(recorder.statements.contains { $0.contains("OPERATOR(\"ext\".=)") })
                #expect(owners.count == 1)
                #expect(try await owners[0].set(forKey: "entries").objects.map { try $0.storedID } == [3])
                #expect(try await owners[0].set(forKey: "texts").count == 2)
                try await owners[0].set(forKey: "texts").removeAll()
                #expect(try await context.fetch("entry").where("word == nil").count() == 2)
            }
            #expect(zip(entities[0], entities[1]).allSatisfy { $0 === $1 })
        }
    }
}
