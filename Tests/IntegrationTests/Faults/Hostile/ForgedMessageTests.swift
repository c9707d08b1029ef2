import Kindred
import KindredTesting
import Synchronization
import TestSupport
import Testing
import TypeModels

/// Answers that no PostgreSQL gives to what objects ask it: more or fewer rows and columns, of other types, other numbers.
@Suite struct ForgedMessageTests {
    private typealias Club = TypeModels.Club
    private typealias Pet = TypeModels.Pet

    private static let rows = """
        INSERT INTO club SELECT i, 'Club ' || i FROM generate_series(1, 3) AS i;
        INSERT INTO keeper (id, name, code, rank, size, visible, numbers, club_id, age, mood, boss_id, price)
            SELECT i, 'Keeper ' || i, 'k' || i, i, i, true, '{1,NULL}', i % 3 + 1, 10 * i, 'happy',
                CASE WHEN i > 1 THEN i - 1 END, i / 3.0
            FROM generate_series(1, 9) AS i;
        INSERT INTO pet SELECT i, 'Pet ' || i, i, i % 9 + 1 FROM generate_series(1, 12) AS i;
        INSERT INTO membership SELECT i, i % 3 + 1 FROM generate_series(1, 9) AS i;
        INSERT INTO badge SELECT i, 'Badge', i FROM generate_series(1, 4) AS i;
        """

    @Test(
        "Whatever a server answers ends in values or in errors of Kindred's",
        .database(.file("../../../TypeModels/schema.sql"), timeLimit: .seconds(3_600)),
        arguments: [UInt64.random(in: 0..<1_000_000)])
    func forgedAnswers(seed: UInt64) async throws {
        try await withClient { try await $0.runScript(Self.rows) }
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let forger = MessageForger(seed: seed, Self.change)
        var configuration = proxy.configuration
        // An answer may seem to have no end.
        configuration.statementTimeout = .milliseconds(500)
        configuration.connectTimeout = .seconds(60)
        var random = SeededGenerator(seed: seed &+ 1)
        var ends: [String: Int] = [:]
        for round in 0..<TestAmount.of(8, full: 20, long: 300) {
            // The catalog is such an answer too.
            let isForgedFromTheBeginning = round % 4 == 0
            func begin() {
                proxy.set { direction, bytes in direction == .toClient ? .replace(forger.forge(bytes)) : .forward }
            }
            proxy.set { _, _ in .forward }
            if isForgedFromTheBeginning { begin() }
            do {
                let database = try await Database.connect(configuration, classes: KindredModels.all)
                begin()
                let context = database.makeContext()
                for _ in 0..<20 {
                    let operation = random.pick(Self.operations)
                    do {
                        try await operation(context)
                        ends["values", default: 0] += 1
                    } catch {
                        try Self.count(error, &ends)
                    }
                }
                await database.close(timeout: .zero)
            } catch {
                try Self.count(error, &ends)
            }
        }
        proxy.set { _, _ in .forward }
        let (forged, values) = TestAmount.isFull ? (100, 10) : (20, 0)
        #expect(forger.count > forged && ends.count > 1 && ends["values"] ?? 0 > values, "\(forger.count) \(ends)")
    }

    private static func count(_ error: any Error, _ ends: inout [String: Int]) throws {
        switch error {
        case let error as KindredError: ends["\(error.code)", default: 0] += 1
        case let error as PostgresError: ends["\(error.code)", default: 0] += 1
        case is SchemaError: ends["schema", default: 0] += 1
        default: throw error
        }
    }

    private typealias Operation = @Sendable (DatabaseContext) async throws -> Void

    private static let operations: [Operation] = [
        { context in
            for keeper in try await context.fetch(Keeper.self).prefetch("club", "pets", "clubs").all() {
                _ = (keeper.name, keeper.price, keeper.mood, keeper.numbers)
                _ = try await keeper.club().name
                _ = try await keeper.pets.all().map(\.weight)
            }
        },
        { context in
            for club in try await context.fetch(Club.self).all() {
                for try await member in club.members { _ = try await member.boss()?.code }
                _ = try await club.clubKeepers.count
            }
        },
        { context in _ = try await context.find(Keeper.self, 3)?.refresh() },
        { context in
            let keepers = try await context.fetch(Keeper.self).limit(2).all()
            let club = try await context.fetch(Club.self).first()
            try await club?.members.set(keepers)
            if let keeper = keepers.first { try await club?.clubKeepers.insert(keeper) }
        },
        { context in
            let pet = try await context.fetch(Pet.self).one()
            try await pet.setValue(7, forKey: "weight")
            try await pet.setValue(nil, forKey: "keeper")
        },
        { context in
            let pet = try await context.create("pet", ["id": Int.random(in: 100..<1_000_000), "weight": 1])
            try await context.delete(pet)
        },
        { context in
            for pet in try await context.fetch(Pet.self).all() { pet.weight = .random(in: 0..<100) }
            _ = try context.add("pet", ["id": Int.random(in: 100..<1_000_000)])
            try await context.save()
        },
        { context in context.rollback() },
        { context in
            let request = try context.fetch("keeper")
            _ = try await request.count()
            _ = try await request.sum("age")
            _ = try await request.group(by: "club.name", aggregates: .count, .average("age")).all()
            _ = try await request.select("name", "club.name").all()
            _ = try await request.exists()
        },
        { context in
            let page = try await context.fetch(Keeper.self).sorted("age").page(size: 2)
            if let next = page.next {
                _ = try await context.fetch(Keeper.self).sorted("age").page(size: 2, after: next)
            }
        },
        { context in for try await keeper in try context.fetch(Keeper.self).stream() { _ = keeper.name } },
        { context in
            _ = try await context.fetch(Pet.self).where("weight > 50").update(["weight": 3])
            _ = try await context.fetch(Pet.self).where("id > 100").delete()
        },
        { context in
            try await context.transaction {
                let keeper = try await context.fetch(Keeper.self).lock().first()
                try await keeper?.setValue("new", forKey: "name")
                try await context.transaction { try await keeper?.setValue(nil, forKey: "boss") }
            }
        },
        { context in _ = try await context.deletionPlan(for: try await context.fetch(Club.self).one()) },
        { context in _ = try await context.upsert("club", ["id": 1, "name": "x"], on: "id") },
        { context in _ = try await context.database.refreshSchema() },
        { context in _ = try await context.fetch("keeper").explain() },
    ]

    /// One message in twenty is changed.
    @Sendable private static func change(_ message: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        guard random.once(in: 20) else { return message }
        switch message[0] {
        case UInt8(ascii: "D"): return changedRow(message, &random)
        case UInt8(ascii: "T"):
            // The columns' names, types and formats; how many there are is another fault.
            var changed = message
            for _ in 0...Int.random(in: 0...2, using: &random) where changed.count > 7 {
                let position = Int.random(in: 7..<changed.count, using: &random)
                changed[position] = random.pick([0, 1, 2, 16, 17, 20, 21, 23, 25, changed[position] ^ 1])
            }
            return changed
        case UInt8(ascii: "C"):
            let tags = [
                "", "INSERT 0 0", "UPDATE 99999999999999999999", "DELETE -1", "SELECT 7", "COMMIT", "ROLLBACK", "é",
            ]
            return MessageForger.message("C", Array(random.pick(tags).utf8) + [0])
        default: return message
        }
    }

    private static func changedRow(_ message: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var values = MessageForger.values(of: message)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return []
        case 1: return message + message
        case 2: values.append(nil)
        case 3: _ = values.popLast()
        default:
            guard !values.isEmpty else { return message }
            let column = Int.random(in: 0..<values.count, using: &random)
            values[column] = MessageForger.damaged(values[column] ?? [], &random)
        }
        return MessageForger.row(values)
    }
}
