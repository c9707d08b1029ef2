import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Tables with each kind of relationship, and what SQL says of them.
enum FollowedWorld {
    static let schema = """
        CREATE TABLE region (id integer PRIMARY KEY, name text);
        CREATE TABLE person (id integer PRIMARY KEY, name text, nick text,
            region_id integer REFERENCES region ON DELETE SET NULL);
        CREATE TABLE passport (id integer PRIMARY KEY, person_id integer UNIQUE REFERENCES person ON DELETE CASCADE);
        CREATE TABLE email (id integer PRIMARY KEY, address text,
            person_id integer REFERENCES person ON DELETE CASCADE);
        CREATE TABLE tag (id integer PRIMARY KEY, label text);
        CREATE TABLE person_tag (
            person_id integer CONSTRAINT tags REFERENCES person ON DELETE CASCADE,
            tag_id integer CONSTRAINT people REFERENCES tag ON DELETE CASCADE, PRIMARY KEY (person_id, tag_id));
        CREATE TABLE course (id integer PRIMARY KEY, title text);
        CREATE TABLE enrolment (id integer PRIMARY KEY, grade integer,
            person_id integer NOT NULL REFERENCES person ON DELETE CASCADE,
            course_id integer NOT NULL REFERENCES course ON DELETE CASCADE, UNIQUE (person_id, course_id));
        CREATE TABLE book (id integer PRIMARY KEY, title text);
        CREATE TABLE chapter (id integer PRIMARY KEY, position integer,
            book_id integer CONSTRAINT book__chapters REFERENCES book ON DELETE CASCADE);
        COMMENT ON CONSTRAINT book__chapters ON chapter IS '@kindred {"orderedBy": "position"}';
        CREATE TABLE playlist (id integer PRIMARY KEY, name text);
        CREATE TABLE track (id integer PRIMARY KEY, title text);
        CREATE TABLE playlist_track (
            playlist_id integer CONSTRAINT tracks REFERENCES playlist ON DELETE CASCADE,
            track_id integer CONSTRAINT playlists REFERENCES track ON DELETE CASCADE, position integer,
            PRIMARY KEY (playlist_id, track_id));
        COMMENT ON CONSTRAINT tracks ON playlist_track IS '@kindred {"orderedBy": "position"}';
        """

    static let tables = [
        "region", "person", "passport", "email", "tag", "person_tag", "course", "enrolment", "book", "chapter",
        "playlist", "track", "playlist_track",
    ]

    /// A relationship, with the keys of its members as SQL gives them.
    struct Fact: Sendable {
        let entity: String
        let key: String
        var isOrdered = false
        let members: @Sendable (Int64) -> SQL
    }

    static let sets: [Fact] = [
        Fact(entity: "region", key: "personSet") { "SELECT id FROM person WHERE region_id = \($0) ORDER BY id" },
        Fact(entity: "person", key: "emailSet") { "SELECT id FROM email WHERE person_id = \($0) ORDER BY id" },
        Fact(entity: "person", key: "tags") { "SELECT tag_id FROM person_tag WHERE person_id = \($0) ORDER BY 1" },
        Fact(entity: "tag", key: "people") { "SELECT person_id FROM person_tag WHERE tag_id = \($0) ORDER BY 1" },
        Fact(entity: "person", key: "courseSet") {
            "SELECT course_id FROM enrolment WHERE person_id = \($0) ORDER BY 1"
        },
        Fact(entity: "course", key: "personSet") {
            "SELECT person_id FROM enrolment WHERE course_id = \($0) ORDER BY 1"
        },
        Fact(entity: "course", key: "enrolmentSet") { "SELECT id FROM enrolment WHERE course_id = \($0) ORDER BY 1" },
        Fact(entity: "book", key: "chapters", isOrdered: true) {
            "SELECT id FROM chapter WHERE book_id = \($0) ORDER BY position NULLS LAST, id"
        },
        Fact(entity: "playlist", key: "tracks", isOrdered: true) {
            "SELECT track_id FROM playlist_track WHERE playlist_id = \($0) ORDER BY position NULLS LAST, track_id"
        },
    ]

    static let ones: [Fact] = [
        Fact(entity: "person", key: "region") { "SELECT region_id FROM person WHERE id = \($0)" },
        Fact(entity: "person", key: "passport") { "SELECT id FROM passport WHERE person_id = \($0)" },
        Fact(entity: "email", key: "person") { "SELECT person_id FROM email WHERE id = \($0)" },
        Fact(entity: "chapter", key: "book") { "SELECT book_id FROM chapter WHERE id = \($0)" },
    ]

    static func row(_ entity: String, _ id: Int64) -> SQL {
        switch entity {
        case "region": "SELECT to_jsonb(t)::text FROM region AS t WHERE id = \(id)"
        case "person": "SELECT to_jsonb(t)::text FROM person AS t WHERE id = \(id)"
        case "email": "SELECT to_jsonb(t)::text FROM email AS t WHERE id = \(id)"
        case "tag": "SELECT to_jsonb(t)::text FROM tag AS t WHERE id = \(id)"
        case "course": "SELECT to_jsonb(t)::text FROM course AS t WHERE id = \(id)"
        case "book": "SELECT to_jsonb(t)::text FROM book AS t WHERE id = \(id)"
        case "chapter": "SELECT to_jsonb(t)::text FROM chapter AS t WHERE id = \(id)"
        default: "SELECT to_jsonb(t)::text FROM playlist AS t WHERE id = \(id)"
        }
    }

    /// Runs `body` with a database that tracks all these tables.
    static func run(
        _ body: (_ database: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            try await database.tracking.enable(tables)
            try await body(database, database.makeContext(tracking: .automatic), other)
        }
    }

    static func keys(_ client: PostgresClient, _ sql: SQL) async throws -> [Int64] {
        try await client.query(sql).compactMap { row in
            if case .integer(let key)? = try row[0] { key } else { nil }
        }
    }
}

extension DatabaseObject {
    /// The keys of a set's members, as memory has them: a statement is an error.
    func membersInMemory(_ key: String, isOrdered: Bool = false) async throws -> [Int64] {
        let keys = try await withStatementLimit(0) { try await set(forKey: key).objects }.compactMap(\.number)
        return isOrdered ? keys : keys.sorted()
    }

    /// The number of a set's members, as memory has it.
    func countInMemory(_ key: String) async throws -> Int {
        try await withStatementLimit(0) { try await set(forKey: key).count }
    }

    /// The key of a to-one end, as memory has it.
    func oneInMemory(_ key: String) async throws -> Int64? {
        try await withStatementLimit(0) { try await object(forKey: key) }?.number
    }

    /// The integer that is the key.
    var number: Int64? { key?.integer }
}
