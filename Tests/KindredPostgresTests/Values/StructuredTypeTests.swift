import KindredPostgres
import Testing

@Suite struct StructuredTypeTests {
    @Test(arguments: [
        ("0.0.0.0/0", true), ("192.168.0.1", true), ("10.0.0.0/8", true), ("10.1.0.0/8", false), ("::", true),
        ("::1", true), ("2001:db8::/32", true), ("2001:db8::1/32", false), ("::ffff:1.2.3.4", true),
        ("1:0:0:2:0:0:0:3", true), ("::1.2.3.4", true), ("1::", true), ("1:2:3:4:5:6:7:8/127", true),
    ])
    func addressesAreReadAndPrinted(text: String, isNetwork: Bool) throws {
        let inet = try #require(PostgresInet(text))
        let shown = text == "1:0:0:2:0:0:0:3" ? "1:0:0:2::3" : text
        #expect(inet.description == shown && inet.isNetwork == isNetwork)
    }

    @Test(arguments: [
        "", "/8", "1.2.3", "1.2.3.256", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/-1", "1.2.3.4/+1", "1.2.3.4.5", "::/129",
        ":1", "1:", "1:::2", "1::2::3", "12345::", "::g", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "::1.2.3.4:5", "a",
    ])
    func whatIsNoAddressIsNone(text: String) {
        #expect(PostgresInet(text) == nil)
        expectDecodingFailed { try decoded(Array(text.utf8), .inet, .text) }
    }

    @Test func hostsAreNoNetworks() throws {
        var bytes: [UInt8] = []
        let host = PostgresValue.inet(try #require(PostgresInet("10.0.0.1/8")))
        #expect(try Codec.encode(host, as: .inet, into: &bytes) == .binary)
        expectError(.invalidParameter) { try Codec.encode(host, as: .cidr, into: &bytes) }
        expectDecodingFailed { try decoded(Array("10.0.0.1/8".utf8), .cidr, .text) }
    }

    @Test func hardwareAddressesKeepTheirLength() throws {
        let short = try #require(PostgresMACAddress("08:00:2b:01:02:03"))
        #expect(PostgresMACAddress("08-00-2B-01-02-03") == short && !short.isEUI64)
        #expect(short.eui64.description == "08:00:2b:ff:fe:01:02:03" && short.eui64.isEUI64)
        var bytes: [UInt8] = []
        expectError(.invalidParameter) { try Codec.encode(.macAddress(short), as: .macaddr8, into: &bytes) }
        expectError(.invalidParameter) { try Codec.encode(.macAddress(short.eui64), as: .macaddr, into: &bytes) }
        for text in ["", "08:00:2b:01:02", "08:00:2b:01:02:3", "08:00-2b:01:02:03", "0g:00:2b:01:02:03"] {
            #expect(PostgresMACAddress(text) == nil)
        }
    }

    @Test func bitsAreAsManyAsTheyAre() throws {
        let bits = try #require(PostgresBits("101100001"))
        #expect(bits.bytes == [0b1011_0000, 0b1000_0000] && bits.count == 9 && bits[0] && !bits[1] && bits[8])
        #expect(bits == PostgresBits(bytes: bits.bytes, count: 9) && bits.description == "101100001")
        #expect(PostgresBits(bytes: [0b1100_0000], count: 1) == nil && PostgresBits(bytes: [0], count: 9) == nil)
        #expect(PostgresBits(bytes: [], count: -1) == nil && PostgresBits("012") == nil && PostgresBits("")?.count == 0)
    }

    @Test(arguments: [
        (0, "$0.00"), (5, "$0.05"), (-5, "-$0.05"), (123_456, "$1,234.56"), (100_000_000, "$1,000,000.00"),
        (Int64.max, "$92,233,720,368,547,758.07"), (Int64.min, "-$92,233,720,368,547,758.08"),
    ])
    func moneyIsPrintedAsInTheUnitedStates(units: Int64, text: String) {
        #expect(PostgresMoney(units: units).description == text && PostgresMoney(text)?.units == units)
    }

    @Test func moneyInAnotherFormIsLeftAsItCame() throws {
        for text in ["12.34", "$1234.56", "$1,23.45", "$1.234", "$92,233,720,368,547,758.08", "€ 1,00"] {
            #expect(PostgresMoney(text) == nil)
            guard case .other(let raw) = try decoded(Array(text.utf8), .money, .text) else {
                Issue.record("\(text) was read as money")
                continue
            }
            #expect(raw.text == text)
            expectDecodingFailed { try PostgresMoney(postgresValue: .other(raw)) }
        }
    }

    @Test func shapesThatAreNoneAreRefused() {
        let point = PostgresPoint(x: 0, y: 0)
        #expect(PostgresLine(a: 0, b: 1e-7, c: 1) == nil && PostgresLine("{0,0,1}") == nil)
        #expect(PostgresCircle(center: point, radius: -1) == nil && PostgresCircle("<(0,0),-1>") == nil)
        #expect(PostgresPath(points: [], isClosed: true) == nil && PostgresPolygon(points: []) == nil)
        for text in ["", "(1,2", "(1,2)x", "(,)", "(1 ,2)", "((1,2))", "(1e999,0)", "(0x10,0)"] {
            #expect(PostgresPoint(text) == nil, "\(text)")
        }
    }

    @Test func aBoxIsTheSameFromAnyOfItsCorners() {
        let box = PostgresBox(PostgresPoint(x: 1, y: 2), PostgresPoint(x: 3, y: 0))
        #expect(box.description == "(3,2),(1,0)" && PostgresBox("(1,0),(3,2)") == box)
        let odd = PostgresBox(PostgresPoint(x: .nan, y: 0), PostgresPoint(x: 1, y: 0))
        #expect(odd.upperRight.x.isNaN && odd == odd)
    }

    @Test func boxesInArraysStandBetweenSemicolons() throws {
        let box = PostgresBox(PostgresPoint(x: 1, y: 1), PostgresPoint(x: 0, y: 0))
        let array = PostgresArray(elementType: .box, elements: [.box(box), nil])
        #expect(array.description == "{(1,1),(0,0);NULL}")
        let type = try #require(PostgresDataType.box.arrayType)
        #expect(try decoded(Array(array.description.utf8), type, .text) == .array(array))
    }

    @Test func aTextThatOnlyTheServerReadsGoesAsText() throws {
        var bytes: [UInt8] = []
        #expect(try Codec.encode("10.1/16", as: .cidr, into: &bytes) == .text)
        #expect(bytes == Array("10.1/16".utf8))
        bytes = []
        #expect(try Codec.encode("10.0.0.1", as: .inet, into: &bytes) == .binary)
        #expect(bytes == [2, 32, 0, 4, 10, 0, 0, 1])
        bytes = []
        let networks = PostgresArray(elementType: .cidr, elements: ["10.0.0.0/8", "10.1/16", nil])
        let type = try #require(PostgresDataType.cidr.arrayType)
        #expect(try Codec.encode(.array(networks), as: type, into: &bytes) == .text)
        #expect(bytes == Array("{10.0.0.0/8,10.1/16,NULL}".utf8))
        bytes = []
        #expect(try Codec.encode("pg_class", as: .regclass, into: &bytes) == .text)
        expectError(.invalidParameter) { try Codec.encode(1, as: .inet, into: &bytes) }
        expectError(.invalidParameter) { try Codec.encode("a\u{0}", as: .inet, into: &bytes) }
    }

    @Test func aRangeIsWrittenFromItsText() throws {
        let range = PostgresValue.range(PostgresRange(lower: .inclusive(1), upper: .exclusive(5)))
        var (bytes, expected): ([UInt8], [UInt8]) = ([], [])
        #expect(try Codec.encode("[1,5)", as: .int4range, into: &bytes) == .binary)
        #expect(try Codec.encode(range, as: .int4range, into: &expected) == .binary && bytes == expected)
        bytes = []
        #expect(try Codec.encode(" [ 1 , 5 ) ", as: .int4range, into: &bytes) == .text)
    }

    @Test func theirTextsAreTexts() throws {
        let inet = try #require(PostgresInet("::1"))
        #expect(try String(postgresValue: .inet(inet)) == "::1" && PostgresInet(postgresValue: "::1") == inet)
        expectDecodingFailed { try PostgresInet(postgresValue: "x") }
        expectDecodingFailed { try PostgresInet(postgresValue: 1) }
    }
}
