import Kindred
import KindredTesting
import TestSupport
import Testing

/// Many tasks that each write a value, are cancelled at a random moment, and write another value.
///
/// A trigger keeps the values that each row ever had, so that SQL tells afterwards which of the writes took effect, and when.
struct CancelledWriteLoad: Sendable {
    static let schema = """
        CREATE TABLE tag (id int PRIMARY KEY);
        INSERT INTO tag VALUES (1), (2);
        CREATE TABLE note (
            round bigint PRIMARY KEY, value int NOT NULL DEFAULT 0, tag_id int REFERENCES tag, history int[] NOT NULL DEFAULT '{}');
        CREATE TABLE copied (round bigint PRIMARY KEY);
        CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            PERFORM pg_sleep(random() * 0.0004);
            NEW.history := OLD.history || NEW.value + coalesce(NEW.tag_id, 0);
            RETURN NEW;
        END $$;
        CREATE TRIGGER keep BEFORE UPDATE ON note FOR EACH ROW EXECUTE FUNCTION keep();
        """

    enum Way: Int, CaseIterable {
        case generated, raw, transaction, copy, value, save, set
    }

    enum Fate {
        case done, withdrawn, unknown
    }

    /// A row, and the outcome of the cancelled write.
    struct Round: Sendable {
        let id: Int
        let way: Way
        let fate: Fate
    }

    let database: Database
    var tasks = 30
    /// How many rows each task writes.
    let rounds: Int
    var latest = Duration.microseconds(2_000)

    private var client: PostgresClient { database.client }

    func run() async throws -> [Round] {
        try await withThrowingTaskGroup(of: [Round].self) { group in
            for task in 0..<tasks {
                group.addTask { try await run(task) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func run(_ task: Int) async throws -> [Round] {
        let context = database.makeContext()
        let tags = try await context.fetch("tag").sorted("id").all()
        var found: [Round] = []
        for number in 0..<rounds {
            let id = task * rounds + number
            let way = Way.allCases[(task + number) % Way.allCases.count]
            try await generated("INSERT INTO note (round) VALUES (\(id))")
            let object = try await context.fetch("note").where("round = %@", id).one()
            let write = { @Sendable (value: Int) async throws in
                switch way {
                case .value: try await object.setValue(value, forKey: "value")
                case .save:
                    object["value"] = .integer(Int64(value))
                    try await context.save()
                case .set: try await tags[value - 1].set(forKey: "noteSet").insert(object)
                case .copy where value == 1:
                    let line = AsyncStream([UInt8].self) { lines in
                        lines.yield(Array("\(id)\n".utf8))
                        lines.finish()
                    }
                    try await client.copyIn("COPY copied FROM STDIN", from: line)
                case .raw: try await client.query("UPDATE note SET value = \(value) WHERE round = \(id)")
                case .transaction:
                    try await client.withTransaction { _ in
                        try await generated("UPDATE note SET value = \(value) WHERE round = \(id)")
                        try await generated("SELECT 1")
                    }
                case .generated, .copy: try await generated("UPDATE note SET value = \(value) WHERE round = \(id)")
                }
            }
            let victim = Task { try await write(1) }
            try await Task.sleep(for: latest * Double.random(in: 0...1))
            victim.cancel()
            let fate = try await fate(of: victim)
            found.append(Round(id: id, way: way, fate: fate))
            // A row whose value is unknown is left alone: the write may still hold it.
            if fate != .unknown { try await write(2) }
        }
        return found
    }

    private func fate(of victim: Task<Void, any Error>) async throws -> Fate {
        do {
            try await victim.value
            return .done
        } catch is CancellationError {
            return .withdrawn
        } catch let error as any CategorizedError where error.mayHaveTakenEffect {
            return .unknown
        }
    }

    /// Runs a statement as contexts send theirs, which share connections.
    private func generated(_ sql: SQL) async throws {
        var statement = try sql.statement(types: client.types, isProgrammed: false)
        statement.resultFormat = .binary
        try await client.execute(statement)
    }

    /// Compares the rows with what the callers were told, by SQL over another client.
    static func judge(_ rounds: [Round], _ other: PostgresClient) async throws {
        var histories: [Int: [Int]] = [:]
        for row in try await other.query("SELECT round, history FROM note") {
            histories[try #require(try row.decode(0, as: Int.self))] = try row.decode(1, as: [Int].self)
        }
        let copied = Set(
            try await other.query("SELECT round FROM copied").compactMap { try $0.decode(0, as: Int.self) })
        var wrong: [String] = []
        for round in rounds where round.fate != .unknown {
            let isCopy = round.way == .copy
            let expected = (round.fate == .done && !isCopy ? [1] : []) + [2]
            let history = histories[round.id] ?? []
            if history != expected || isCopy && copied.contains(round.id) != (round.fate == .done) {
                wrong.append("\(round.way) \(round.fate): \(history)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(rounds.count): \(wrong.prefix(10))")
        for way in Way.allCases {
            let fates = rounds.filter { $0.way == way }.map(\.fate)
            // The moments are where both can happen.
            #expect(fates.contains(.withdrawn), "\(way)")
        }
    }
}
