import Foundation
import TestSupport
import Testing

@testable import KindredPostgres

/// The texts of positions, which come back from clients.
@Suite struct DatabasePositionTests {
    @Test func aTextIsReadBack() throws {
        for position in [
            DatabasePosition(system: 7_712_778_186_985_536_359, timeline: 1, location: 0x16_b374_d848),
            DatabasePosition(system: 0, timeline: 0, location: 0),
            DatabasePosition(system: .max, timeline: .max, location: .max),
        ] {
            #expect(DatabasePosition(position.description) == position)
            let data = try JSONEncoder().encode([position])
            #expect(try JSONDecoder().decode([DatabasePosition].self, from: data) == [position])
        }
        #expect(DatabasePosition(system: 255, timeline: 2, location: 4096).description == "ff-2-1000")
    }

    @Test func othersAreNone() {
        let texts = [
            "", "-", "--", "1-1", "1-1-1-1", "1--1", "-1-1", "1-1-", "01-1-1", "1-1-00", "1-1-g", "A-1-1", "1-1-+1",
            " 1-1-1",
            "1-100000000-1", "10000000000000000-1-1", "1-1-10000000000000000", "1-1-1\0", "１-1-1",
            String(repeating: "1", count: 1 << 20), "1-1-\u{301}1",
        ]
        for text in texts { #expect(DatabasePosition(text) == nil, "\(text.prefix(50))") }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DatabasePosition].self, from: Data(#"["1-1"]"#.utf8))
        }
    }

    @Test func randomBytesAreNoneOrWrittenAsTheyWereRead() {
        var random = SeededGenerator(seed: 7)
        let letters = Array("0123456789abcdef--gA")
        for _ in 0..<TestAmount.of(20_000, full: 200_000) {
            let count = Int.random(in: 0...12, using: &random)
            let text = String((0..<count).compactMap { _ in letters.randomElement(using: &random) })
            if let position = DatabasePosition(text) { #expect(position.description == text) }
        }
    }

    @Test func locationsOfServersAreRead() {
        #expect(DatabasePosition.location("16/B374D848") == 0x16_b374_d848)
        #expect(DatabasePosition.location("0/0") == 0)
        #expect(DatabasePosition.location("FFFFFFFF/FFFFFFFF") == .max)
        for text in ["", "/", "1", "1/2/3", "1FFFFFFFF/0", "x/0", "-1/0"] {
            #expect(DatabasePosition.location(text) == nil, "\(text)")
        }
        for location in [0, 1, 0x16_b374_d848, UInt64.max] {
            #expect(DatabasePosition.location(DatabasePosition.text(of: location)) == location)
        }
    }

    @Test func noPositionIsBehindThePageHeaderThatARecordWillFollow() {
        #expect(DatabasePosition.header(before: 40, block: 8192) == 40)
        #expect(DatabasePosition.header(before: 8192 + 24, block: 8192) == 24)
        #expect(DatabasePosition.header(before: 24, block: 8192) == 0)
        #expect(DatabasePosition.header(before: 8192 + 40, block: 8192) == 0)
        #expect(DatabasePosition.header(before: 0, block: 8192) == 0)
    }
}
