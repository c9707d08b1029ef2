import Foundation
import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredLive

/// Cursors of clients that come back, and the hashes in them, without a server.
@Suite struct LiveCursorTests {
    private static let place = ChangeCursor(
        epoch: "7", system: -3, timeline: "1/9", database: 4_000_000_000, snapshot: "10:20:10,14,19")
    private static let cursor = LiveCursor(
        changes: place, request: .max,
        list: LiveListHashes(seed: 1, rows: [LiveListHashes.Row(key: 1, content: 2), .init(key: 3, content: .max)]))

    /// The values of the paper on SipHash (appendix A), and of its reference implementation.
    @Test(arguments: [(0, 0x726f_db47_dd0e_0e31), (15, 0xa129_ca61_49be_45e5)] as [(Int, UInt64)])
    func hashesAreSipHash(length: Int, expected: UInt64) {
        var hash = ContentHash(seed: 0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        for byte in 0..<length { hash.combine(UInt8(byte)) }
        #expect(hash.value == expected)
    }

    @Test func aCursorComesBackFromItsText() throws {
        let cursors = [
            Self.cursor, LiveCursor(changes: Self.place, request: 0, list: nil),
            LiveCursor(changes: Self.place, request: 1, list: LiveListHashes(seed: 2, rows: [])),
        ]
        for cursor in cursors {
            let text = cursor.description
            #expect(
                text.utf8.allSatisfy { UInt8(ascii: "-") == $0 || UInt8(ascii: "_") == $0 || isalnum(Int32($0)) != 0 })
            #expect(LiveCursor(text) == cursor)
            let data = try JSONEncoder().encode([cursor])
            #expect(try JSONDecoder().decode([LiveCursor].self, from: data) == [cursor])
        }
        let rows = (0..<UInt64(LiveListHashes.maximumRows)).map { LiveListHashes.Row(key: $0, content: $0) }
        let longest = LiveCursor(changes: Self.place, request: 1, list: LiveListHashes(seed: 2, rows: rows))
        #expect(longest.description.utf8.count <= 4_400 && LiveCursor(longest.description) == longest)
    }

    @Test(arguments: ["", "A", "AQ", "====", "3", "hello", String(repeating: "A", count: 3_000_000)])
    func whatIsNoCursorIsNil(_ text: String) throws {
        #expect(LiveCursor(text) == nil)
        let data = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([LiveCursor].self, from: data) }
    }

    @Test(arguments: [
        "10:20:", "10:20:10", "1:1:", "10:20:10,14,19", "1:9223372036854775807:5",
    ]) func snapshotsAreRead(_ text: String) { #expect(ChangeCursor.isSnapshot(text)) }

    @Test(arguments: [
        "", ":", "::", "0:0:", "0:20:", "20:10:", "10:20:9", "10:20:20", "10:20:14,14", "10:20:15,14", "10:20:,",
        "10:20:14,",
        "10:20: 14", "-1:20:", "+1:20:", "10:20:14:", "1:18446744073709551616:", "1:9223372036854775808:", "1a:20:",
        "10:20:x",
        "10:20:'; DROP TABLE person; --",
    ]) func whatIsNoSnapshotIsRefused(_ text: String) throws {
        #expect(!ChangeCursor.isSnapshot(text))
        let forged = ChangeCursor(epoch: "1", system: 1, timeline: "1", database: 1, snapshot: text)
        let data = try JSONEncoder().encode(forged)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ChangeCursor.self, from: data) }
        #expect(LiveCursor(LiveCursor(changes: forged, request: 1, list: nil).description) == nil)
    }

    /// Damaged bytes with a right checksum, as a client that knows the form sends them.
    @Test func forgedCursorsAreReadOrNil() throws {
        var generator = SystemRandomNumberGenerator()
        let text = Self.cursor.description.replacing("-", with: "+").replacing("_", with: "/")
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let good = Array(try #require(Data(base64Encoded: padded))).dropLast(4)
        var (read, refused) = (0, 0)
        for _ in 0..<30_000 {
            var bytes = Array(good)
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let position = Int.random(in: 1..<bytes.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.insert([0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0, at: position)
                case 2: bytes.remove(at: position)
                default: bytes += bytes[position...].prefix(100)
                }
            }
            let sum = bytes.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
            let forged = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            guard let cursor = LiveCursor(forged) else {
                refused += 1
                continue
            }
            #expect(ChangeCursor.isSnapshot(cursor.changes.snapshot) && cursor.list?.rows.count ?? 0 <= 200)
            read += 1
        }
        #expect(read > 100 && refused > 100)
    }

    @Test func equalListsHaveEqualHashesAndOthersHaveNot() throws {
        let fixture = try LiveFixture()
        let emails = try #require(fixture.person.relationship(named: "emailSet"))
        func hashes(_ age: Int64?, _ address: String?) throws -> LiveListHashes.Row {
            let person = try fixture.member(1, age.map { ["age": .integer($0)] } ?? [:])
            let members = try address.map { try [fixture.member(5, ["address": .string($0)], of: fixture.email)] }
            let snapshot = LiveSnapshot([person], [LiveBranch(emails, members: [.integer(1): members ?? []])])
            return LiveListHashes.row(person, in: snapshot, seed: 3)
        }
        let all = try [(1, "a"), (2, "a"), (nil, "a"), (1, "b"), (1, nil), (nil, nil)].map { try hashes($0, $1) }
        #expect(Set(all).count == all.count && Set(all.map(\.key)).count == 1)
        #expect(try hashes(1, "a") == all[0])
    }
}
