import Foundation
import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

@Suite struct PageCursorTests {
    private static let cursor = PageCursor(
        entity: QualifiedName(schema: "public", name: "bücher"),
        order: [
            SortTerm(path: ["author", "name"], ascending: false, nulls: .last), SortTerm(path: ["price"]),
            SortTerm(path: ["id"], nulls: .first),
        ],
        values: [.string("Ö, \"x\""), nil, .integer(.min)])

    @Test func aCursorIsReadAsItWas() throws {
        let text = Self.cursor.text
        #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        #expect(try PageCursor(text) == Self.cursor)
        #expect(try PageCursor(Substring(text)) == Self.cursor)
    }

    @Test func aCursorIsCodableAsItsText() throws {
        let data = try JSONEncoder().encode(["next": Self.cursor])
        #expect(String(decoding: data, as: UTF8.self) == "{\"next\":\"\(Self.cursor.text)\"}")
        #expect(try JSONDecoder().decode([String: PageCursor].self, from: data)["next"] == Self.cursor)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([String: PageCursor].self, from: Data(#"{"next": "abc"}"#.utf8))
        }
    }

    @Test func itsDescriptionHasNoValues() {
        #expect(Self.cursor.description == "a place in public.bücher by author.name descending, price, id")
    }

    @Test(arguments: [
        "", "A", "AQ", "====", "hello world", "/+AB", "AQAAAAA", String(repeating: "A", count: 3_000_000),
    ])
    func whatIsNoCursorIsRefused(_ text: String) {
        #expect { try PageCursor(text) } throws: { ($0 as? KindredError)?.code == .invalidCursor }
    }

    @Test func everyChangeOfOneCharacterIsNoticed() {
        let text = Array(Self.cursor.text.utf8)
        for position in text.indices {
            var changed = text
            changed[position] = changed[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let damaged = String(decoding: changed, as: UTF8.self)
            #expect(throws: KindredError.self) { try PageCursor(damaged) }
            #expect(throws: KindredError.self) { try PageCursor(String(damaged.prefix(position))) }
        }
    }

    /// Damaged bytes with a right checksum, as a client that knows the form sends them: an error or a cursor, never an
    /// end.
    @Test func forgedCursorsAreReadOrRefused() throws {
        var generator = SystemRandomNumberGenerator()
        let good = Array(try #require(Data(base64Encoded: Self.padded(Self.cursor.text)))).dropLast(4)
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
            let text = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            do {
                let cursor = try PageCursor(text)
                #expect(cursor.order.count == cursor.values.count && !cursor.order.isEmpty)
                read += 1
            } catch let error as KindredError {
                #expect(error.code == .invalidCursor)
                refused += 1
            }
        }
        #expect(read > 100 && refused > 100)
    }

    private static func padded(_ text: String) -> String {
        let text = text.replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}
