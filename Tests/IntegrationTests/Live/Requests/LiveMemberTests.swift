import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE region (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person (id integer PRIMARY KEY, nick text NOT NULL, region_id integer REFERENCES region);
    CREATE TABLE email (
        id integer PRIMARY KEY, address text NOT NULL, person_id integer NOT NULL REFERENCES person, place integer);
    COMMENT ON CONSTRAINT email_person_id_fkey ON email IS '@kindred {"inverse": "emails", "orderedBy": "place"}';
    CREATE TABLE tag (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person_tag (
        person_id integer CONSTRAINT tags REFERENCES person, tag_id integer CONSTRAINT people REFERENCES tag,
        PRIMARY KEY (person_id, tag_id));
    CREATE TABLE line (id integer PRIMARY KEY, text text NOT NULL, email_id integer NOT NULL REFERENCES email);
    INSERT INTO region VALUES (1, 'a'), (2, 'b');
    INSERT INTO person SELECT i, 'p' || i, 1 + i % 2 FROM generate_series(1, 6) AS i;
    INSERT INTO email SELECT i, 'e' || i, 1 + i % 6, i FROM generate_series(1, 12) AS i;
    INSERT INTO tag VALUES (1, 'red'), (2, 'blue'), (3, 'green');
    INSERT INTO person_tag VALUES (1, 1), (1, 2), (2, 1), (5, 3);
    INSERT INTO line SELECT i, 'l' || i, i FROM generate_series(1, 12) AS i;
    """

/// Changes of prefetched rows under live requests: the statements for them, and the updates.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveMemberTests {
    /// A live request, followed by an iteration that only keeps it running.
    private func begin(_ request: FetchRequest<DatabaseObject>) async throws
        -> LiveRequest<DatabaseObject>.AsyncIterator
    {
        var updates = try await request.live().makeAsyncIterator()
        _ = try await updates.update()
        return updates
    }

    private func text(_ value: PostgresValue??) -> String { (value ?? nil).map { "\($0)" } ?? "none" }

    /// All that a request shows: of each person the keys and texts of the prefetched rows.
    private func shown(_ update: LiveUpdate<DatabaseObject>) async throws -> [String] {
        var lines: [String] = []
        for person in update.objects {
            var parts = [text(person["id"])]
            parts.append(text(try await person.object(forKey: "region")?["name"]))
            for (set, key) in [("emails", "address"), ("tags", "name")] {
                let members = try await person.set(forKey: set).objects
                parts += members.map { "\(text($0["id"])) \(text($0[key]))" }
            }
            lines.append(parts.joined(separator: ", "))
        }
        return lines
    }

    @Test func onlyTheOwnersOfChangedMembersAreAsked() async throws {
        try await withLive("person", "region", "email", "tag", "person_tag") { database, context, other in
            func request(_ id: Int) throws -> FetchRequest<DatabaseObject> {
                try context.fetch("person").where("id < %@", id).sorted("id").prefetch("region", "emails", "tags")
            }
            // Requests of any shape share the statements of a relationship.
            var first = try await begin(try request(4))
            var second = try await begin(try request(9))
            let third = try await begin(
                try context.fetch("person").where("nick = %@", "p6").prefetch("region", "emails", "tags"))
            var asked: [String: Int] = [:]
            func change(_ name: String, _ sql: SQL) async throws {
                try await database.tracking.catchUp()
                let before = database.tracking.metrics.statements
                try await other.query(sql)
                try await database.tracking.catchUp()
                asked[name] = database.tracking.metrics.statements - before
            }
            try await change("content", "UPDATE email SET address = 'new' WHERE id = 6")
            // The changed row, which names its owner, and the members of the owners.
            #expect(asked == ["content": 2])
            #expect(try await first.update().updates == [0])
            try await change("moved", "UPDATE email SET person_id = 6, place = 0 WHERE id = 6")
            #expect(asked["moved"] == 2)
            #expect(try await second.update().updates == [0, 5])
            try await change("new", "INSERT INTO email VALUES (20, 'x', 3, 1)")
            #expect(asked["new"] == 2)
            try await change("deleted", "DELETE FROM email WHERE id = 20")
            #expect(asked["deleted"] == 1)
            // The key of a region, and that of a pair, tell the owners.
            try await change("region", "UPDATE region SET name = 'z' WHERE id = 1")
            #expect(asked["region"] == 1)
            try await change("pair", "INSERT INTO person_tag VALUES (3, 2)")
            #expect(asked["pair"] == 1)
            try await change("unpaired", "DELETE FROM person_tag WHERE person_id = 1 AND tag_id = 2")
            #expect(asked["unpaired"] == 1)
            // A row that no owner refers to is not asked for.
            try await change("unrelated", "INSERT INTO region VALUES (9, 'q')")
            #expect(asked["unrelated"] == 0)
            withExtendedLifetime(third) {}
        }
    }

    /// The relationship stands at another place in each request.
    @Test func requestsThatPrefetchOtherRelationshipsGetTheirOwnMembers() async throws {
        try await withLive("person", "region", "email", "tag", "person_tag") { _, context, other in
            let people = try context.fetch("person").sorted("id")
            for keys in [["emails"], ["tags", "emails"], ["region", "tags", "emails"], ["emails", "tags"]] {
                var alone = try await begin(people.prefetch("emails"))
                var updates = try await begin(keys.reduce(people) { try $0.prefetch($1) })
                let address = keys.joined()
                try await other.query("UPDATE email SET address = \(address) WHERE id = 6")
                for update in [try await alone.update(), try await updates.update()] {
                    #expect(update.updates == [0])
                    let emails = try await update.objects[0].set(forKey: "emails").objects
                    #expect(emails.contains { $0["address"] == .string(address) })
                    let tags = try await update.objects[0].set(forKey: "tags").objects
                    #expect(tags.count == tags.count { $0.objectID?.uri.hasPrefix("kindred:/public/tag?") == true })
                    #expect(!tags.isEmpty)
                }
            }
        }
    }

    /// Random changes of members, against a context that reads everything anew.
    @Test func membersAreThoseOfTheServer() async throws {
        try await withLive("person", "region", "email", "tag", "person_tag") { database, context, other in
            let request = try context.fetch("person").where("id > %@", 0).sorted("id").prefetch(
                "region", "emails", "tags")
            let running = try await begin(request)
            var random = SystemRandomNumberGenerator()
            for round in 0..<40 {
                let (person, tag) = (Int.random(in: 1...6, using: &random), Int.random(in: 1...3, using: &random))
                let email = Int.random(in: 1...16, using: &random)
                switch Int.random(in: 0..<7, using: &random) {
                case 0:
                    try await other.query(
                        """
                        INSERT INTO email VALUES (\(email), \("n\(round)"), \(person), \(round))
                        ON CONFLICT (id) DO UPDATE SET person_id = \(person), place = \(100 - round)
                        """)
                case 1:
                    try await other.query("DELETE FROM email WHERE id = \(email) AND id > 12")
                case 2:
                    try await other.query("INSERT INTO person_tag VALUES (\(person), \(tag)) ON CONFLICT DO NOTHING")
                case 3: try await other.query("DELETE FROM person_tag WHERE person_id = \(person) AND tag_id = \(tag)")
                case 4: try await other.query("UPDATE tag SET name = \("t\(round)") WHERE id = \(tag)")
                case 5: try await other.query("UPDATE region SET name = \("r\(round)") WHERE id = 1")
                default:
                    try await other.query(
                        "WITH moved AS (UPDATE email SET person_id = \(person) WHERE id < 3) UPDATE tag SET name = 'both' WHERE id = \(tag)"
                    )
                }
                try await database.tracking.catchUp()
                // An equal request is given what the running one has, without a statement.
                var check = try await request.live().makeAsyncIterator()
                let known = try await shown(check.update())
                // Another request asks for everything.
                let anew = try context.fetch("person").where("id > %@", -1 - round).sorted("id")
                    .prefetch("region", "emails", "tags")
                var fresh = try await anew.live().makeAsyncIterator()
                #expect(try await known == shown(fresh.update()), "round \(round)")
            }
            withExtendedLifetime(running) {}
        }
    }

    @Test func deeperRowsAreThere() async throws {
        try await withLive("person", "email", "line") { _, context, other in
            let request = try context.fetch("person").where("id < 3").sorted("id").prefetch("emails.lineSet")
            var updates = try await request.live().makeAsyncIterator()
            func texts(_ update: LiveUpdate<DatabaseObject>) async throws -> [[PostgresValue?]] {
                var found: [[PostgresValue?]] = []
                for person in update.objects {
                    var lines: [PostgresValue?] = []
                    for email in try await person.set(forKey: "emails").objects {
                        lines += try await email.set(forKey: "lineSet").objects.map { $0["text"] }
                    }
                    found.append(lines)
                }
                return found
            }
            let first = try await updates.update()
            #expect(try await texts(first) == [[.string("l6"), .string("l12")], [.string("l1"), .string("l7")]])
            // A member of an owner that the list does not have comes with the rows below it.
            try await other.query("UPDATE email SET person_id = 1, place = 0 WHERE id = 3")
            let second = try await updates.update()
            #expect(second.updates == [0])
            let (shown, recorder) = try await recordingStatements { try await texts(second) }
            #expect(
                shown == [[.string("l3"), .string("l6"), .string("l12")], [.string("l1"), .string("l7")]])
            #expect(recorder.statements == [])
            try await other.query("UPDATE line SET text = 'new' WHERE id = 3")
            #expect(try await texts(updates.update())[0] == [.string("new"), .string("l6"), .string("l12")])
        }
    }
}
