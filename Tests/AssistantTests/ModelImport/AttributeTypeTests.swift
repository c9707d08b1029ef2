import Foundation
import Kindred
import KindredModelImport
import KindredTesting
import TestSupport
import Testing

/// Every type of attribute with its default and its limits, through a server.
@Suite struct AttributeTypeTests {
    /// A type, a default as the model has it, and what the server shows of it.
    static let defaults: [(type: String, text: String, shown: String)] = [
        ("Integer 16", "-32768", "-32768"), ("Integer 16", "32767", "32767"), ("Integer 16", "7.0", "7"),
        ("Integer 32", "-2147483648", "-2147483648"), ("Integer 32", "2147483647", "2147483647"),
        ("Integer 64", "-9223372036854775808", "-9223372036854775808"),
        ("Integer 64", "9223372036854775807", "9223372036854775807"),
        ("Decimal", "0.0", "0.0"), ("Decimal", "-12345678901234567890.123456789", "-12345678901234567890.123456789"),
        ("Decimal", "+1e3", "1000"), ("Double", "0.1", "0.1"),
        ("Double", "-1.7976931348623157e308", "-1.7976931348623157e+308"),
        ("Double", ".5", "0.5"), ("Float", "0.1", "0.1"), ("Float", "3.4028235e38", "3.4028235e+38"),
        ("String", "it's \\ a \"text\"", "it's \\ a \"text\""), ("String", "", ""), ("String", "é 漢 😀", "é 漢 😀"),
        ("String", "a&#10;b&#9;c&#x202E;d", "a\nb\tc\u{202E}d"),
        ("URI", "https://example.org/?a=b", "https://example.org/?a=b"),
        ("Boolean", "YES", "true"), ("Boolean", "NO", "false"), ("Boolean", "1", "true"),
        ("UUID", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("Date", "0", "2001-01-01 00:00:00+00"), ("Date", "-725882400", "1977-12-31 14:00:00+00"),
        ("Date", "0.25", "2001-01-01 00:00:00.25+00"), ("Date", "-63200000000", "0003-04-10 12:26:40+00 BC"),
        ("Date", "1000000000000", "33689-09-27 01:46:40+00"),
    ]

    @Test(.database) func defaultsComeBackAsTheyWere() async throws {
        let attributes = Self.defaults.enumerated().map { place, wanted in
            let key = wanted.type == "Date" ? "defaultDateTimeInterval" : "defaultValueString"
            let value = wanted.text.replacing("\"", with: "&quot;")
            return "<attribute name='a\(place)' optional='YES' attributeType='\(wanted.type)' \(key)=\"\(value)\"/>"
        }
        let model = try ModelFixture.model(xml: "<entity name='E'>\(attributes.joined())</entity>")
        let tables = try ModelImport(model)
        #expect(tables.reports.allSatisfy { $0.level != .omitted }, "\(tables.reports)")
        try await withClient { client in
            try await tables.apply(to: client)
            try await client.query("INSERT INTO \"E\" DEFAULT VALUES")
            try await client.withTransaction { _ in
                try await client.query("SET LOCAL TIME ZONE 'UTC'")
                for (place, wanted) in Self.defaults.enumerated() {
                    let shown = try await client.query("SELECT \(identifier: "a\(place)")::text FROM \"E\"")
                    #expect(try shown.first?.decode(0, as: String.self) == wanted.shown, "\(wanted)")
                }
            }
        }
    }

    /// An attribute that was a Boolean keeps its default when the editor changes its type.
    @Test(arguments: [
        ("Integer 16", "YES", "1"), ("Integer 32", "true", "1"), ("Integer 64", "NO", "0"), ("Decimal", "no", "0"),
        ("Double", "NO", "'0.0'::double precision"), ("Float", "YES", "'1.0'::real"),
    ])
    func theDefaultOfAFormerBooleanIsANumber(_ type: String, _ text: String, _ value: String) throws {
        let tables = try ModelImport(
            ModelFixture.model(
                xml: """
                    <entity name='E'>
                        <attribute name='a' attributeType='\(type)' defaultValueString='\(text)'/>
                    </entity>
                    """))
        #expect(tables.sql.contains("DEFAULT \(value)"), "\(tables.sql)")
        let reports = tables.reports.filter { $0.subject == "E.a" }
        #expect(reports.map(\.level) == [.changed], "\(reports)")
        #expect(reports.first?.reason.contains("default \"\(text)\" is one of type Boolean") == true, "\(reports)")
    }

    @Test(arguments: [
        ("Integer 16", "32768"), ("Integer 16", "1.5"), ("Integer 32", "x"), ("Integer 64", "9223372036854775808"),
        ("Decimal", "1e9999"), ("Decimal", "1,5"), ("Double", "nan"), ("Double", "1e999"), ("Float", "1e39"),
        ("Boolean", "2"),
        ("UUID", "6BA7B810"), ("UUID", "6BA7B810-9DAD-11D1-80B4-00C04FD430CG"), ("Date", "never"), ("Date", "1e18"),
        ("Binary", "AA=="), ("Transformable", "x"), ("Integer 32", "1); DROP TABLE x; --"), ("Decimal", ""),
    ])
    func whatIsNoValueOfTheTypeIsReported(_ type: String, _ text: String) throws {
        let key = type == "Date" ? "defaultDateTimeInterval" : "defaultValueString"
        let tables = try ModelImport(
            ModelFixture.model(
                xml: "<entity name='E'><attribute name='a' attributeType='\(type)' \(key)='\(text)'/></entity>"))
        #expect(tables.reports.contains { $0.level == .omitted && $0.reason.contains("no value of type \(type)") })
        let rest = tables.sql.replacing("GENERATED BY DEFAULT", with: "")
        #expect(!rest.contains("DEFAULT") && !rest.contains("DROP"))
    }

    /// A type, its limits, values that fit and values that do not, as SQL.
    private static let limits: [(type: String, limits: String, fitting: [String], others: [String])] = [
        ("Integer 16", "minValueString='-5' maxValueString='100000'", ["-5", "32767"], ["-6"]),
        ("Integer 64", "maxValueString='9'", ["9", "-1"], ["10"]),
        ("Decimal", "minValueString='0.01'", ["0.01"], ["0.009"]),
        ("Double", "minValueString='0.1' maxValueString='0.3'", ["0.1", "0.3"], ["0.09", "0.30000000000000004"]),
        ("Float", "minValueString='0.1' maxValueString='0.7'", ["0.1", "0.7"], ["0.09", "0.71"]),
        ("String", "minValueString='2' maxValueString='4'", ["'ab'", "'漢字漢字'", "NULL"], ["'a'", "'abcde'", "''"]),
        (
            "Date", "minDateTimeInterval='0' maxDateTimeInterval='86400'", ["'2001-01-01Z'", "'2001-01-02Z'"],
            ["'2000-12-31 23:59Z'"]
        ),
        ("String", "regularExpressionString='[a-z]+'", ["'ab'"], ["'aB'", "'ab\n'", "''", "'1ab'"]),
    ]

    @Test(.database) func limitsAreChecked() async throws {
        let entities = Self.limits.enumerated().map { place, wanted in
            "<entity name='E\(place)'><attribute name='a' optional='YES' attributeType='\(wanted.type)' \(wanted.limits)/></entity>"
        }
        let tables = try ModelImport(ModelFixture.model(xml: entities.joined()))
        try await withClient { client in
            try await tables.apply(to: client)
            for (place, wanted) in Self.limits.enumerated() {
                for value in wanted.fitting {
                    try await client.query("INSERT INTO \(identifier: "E\(place)") (a) VALUES (\(unsafeRaw: value))")
                }
                for value in wanted.others {
                    let error = await #expect(throws: PostgresError.self, "\(wanted.type) \(value)") {
                        try await client.query(
                            "INSERT INTO \(identifier: "E\(place)") (a) VALUES (\(unsafeRaw: value))")
                    }
                    #expect(error?.sqlState == .checkViolation)
                }
            }
        }
    }

    @Test func limitsThatMeanNothingAreReported() throws {
        let tables = try ModelImport(
            ModelFixture.model(
                xml: """
                    <entity name="E"><attribute name="a" attributeType="Boolean" minValueString="1"/>
                    <attribute name="b" attributeType="Integer 32" maxValueString="many"/>
                    <attribute name="c" attributeType="Integer 32" regularExpressionString="\\d"/>
                    <attribute name="d" attributeType="String" minValueString="-1" regularExpressionString="(?i)a"/></entity>
                    """))
        let omitted = tables.reports.filter { $0.level == .omitted }.map(\.subject)
        #expect(omitted == ["E.a", "E.b", "E.c", "E.d", "E.d"])
        #expect(!tables.sql.contains("CHECK"))
    }

    @Test(.database) func compositesAreTypes() async throws {
        let model = try ModelFixture.model(
            xml: """
                <entity name="Person"><attribute name="home" optional="YES" attributeType="Composite" compositeName="Address"/>
                  <attribute name="lost" optional="YES" attributeType="Composite" compositeName="Nothing"/>
                  <attribute name="vague" optional="YES" attributeType="Composite"/></entity>
                <composite name="Address"><attribute name="city" attributeType="String" maxValueString="9"/>
                  <attribute name="place" optional="YES" attributeType="Composite" compositeName="Place"/></composite>
                <composite name="Place"><attribute name="x" optional="YES" attributeType="Double"/></composite>
                <composite name="Loop"><attribute name="loop" attributeType="Composite" compositeName="Loop"/></composite>
                """)
        let tables = try ModelImport(model)
        #expect(
            tables.reports.filter { $0.level == .omitted }.map(\.subject) == ["Loop", "Person.lost", "Person.vague"])
        let database = try await importModel(model)
        let home = try #require(try database.schema.entity(named: "Person").attribute(named: "home"))
        #expect(home.typeName == "\"Address\"")
        #expect(database.schema.types.map(\.name.name) == ["Address", "Place"])
    }
}
