import Kindred
import KindredTesting
import Synchronization
import TestSupport
import Testing
import TypeModels

/// Values that no PostgreSQL sends, in messages that are whole: of a server that is broken, or that is none.
@Suite struct ForgedRowTests {
    private static let rows = """
        INSERT INTO club VALUES (1, 'Club');
        INSERT INTO keeper VALUES (1, 'Ada', 'marked', 'Grüße', 'a:1 b:2', 30, 1, 2, 1.5, 2.5, 12345.678, true, false,
            'happy', gen_random_uuid(), '2024-02-29', '2024-02-29 12:00', '1 mon 2 days', '{a,NULL,ü}', '{1,NULL,3}',
            '{"a": [1, "ü"]}', '{"b": 2}', NULL, 1);
        INSERT INTO house (address, home, earlier, moods, visits, seats, code, source, spot)
            SELECT address, address, ARRAY[address], '{happy,NULL}', '[1.5,2.5)', '[1,5)', '4711', '10.0.0.1/8', '(1,2)'
            FROM (SELECT ROW('marked', 1, '4711', '{a,b}', 'so-so', ROW('tower', 3), true, gen_random_uuid())::address)
                AS a(address);
        """

    @Test(
        "Rows with values that cannot be read are errors, and what passes can be read by every property",
        .database(.file("../../../TypeModels/schema.sql")), arguments: [UInt64.random(in: 0..<1_000_000), 1])
    func forgedValues(seed: UInt64) async throws {
        try await withClient { try await $0.runScript(Self.rows) }
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let database = try await Database.connect(proxy.configuration, classes: KindredModels.all)
        let forger = MessageForger(seed: seed) { message, random in
            guard message[0] == UInt8(ascii: "D"), contains(message, "marked") else { return message }
            var values = MessageForger.values(of: message)
            for _ in 0...Int.random(in: 0...1, using: &random) {
                let column = Int.random(in: 0..<values.count, using: &random)
                values[column] = MessageForger.damaged(values[column] ?? [], &random)
            }
            return MessageForger.row(values)
        }
        proxy.set { direction, bytes in direction == .toClient ? .replace(forger.forge(bytes)) : .forward }
        var (refused, read) = (0, 0)
        let rounds = TestAmount.of(150, full: 300, long: 20_000)
        for _ in 0..<rounds {
            do {
                for keeper in try await database.makeContext().fetch(Keeper.self).all() {
                    for property in Self.keeperProperties { _ = keeper[keyPath: property] }
                    read += 1
                }
                for house in try await database.makeContext().fetch(TypeModels.House.self).all() {
                    for property in Self.houseProperties { _ = house[keyPath: property] }
                    read += 1
                }
            } catch let error as KindredError {
                #expect(error.code == .classMismatch, "\(error)")
                refused += 1
            } catch let error as PostgresError {
                #expect(error.code == .decodingFailed, "\(error)")
                refused += 1
            }
        }
        proxy.set { _, _ in .forward }
        await database.close()
        #expect(
            refused > rounds / 6 && read > rounds / 6 && forger.count > rounds * 2 / 3,
            "\(refused) \(read) \(forger.count)")
    }

    private static var keeperProperties: [PartialKeyPath<Keeper>] {
        [
            \.id, \.name, \.code, \.story, \.words, \.age, \.rank, \.size, \.score, \.ratio, \.price, \.active,
            \.visible,
            \.mood, \.token, \.born, \.seen, \.lasting, \.tags, \.numbers, \.info, \.notes, \.bossID, \.clubID,
        ]
    }

    private static var houseProperties: [PartialKeyPath<TypeModels.House>] {
        [
            \.id, \.address, \.home, \.earlier, \.moods, \.visits, \.seats, \.sizeID, \.code, \.source, \.spot, \.case,
        ]
    }
}
