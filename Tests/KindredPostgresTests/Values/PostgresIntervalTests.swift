import KindredPostgres
import Testing

@Suite struct PostgresIntervalTests {
    @Test(arguments: [
        ("00:00:00", 0, 0, 0), ("1 year 2 mons -3 days +04:05:06.789", 14, -3, 14_706_789_000),
        ("-1 days +01:00:00", 0, -1, 3_600_000_000),
        ("-1 years -1 mons", -13, 0, 0), ("1 mon", 1, 0, 0), ("-00:00:00.000001", 0, 0, -1),
        ("25:00:00", 0, 0, 90_000_000_000),
        ("2562047788:00:54.775807", 0, 0, Int64.max), ("-2562047788:00:54.775808", 0, 0, Int64.min),
        ("178956970 years 7 mons", Int32.max, 0, 0), ("-178956970 years -8 mons", Int32.min, 0, 0),
        ("1 year -1 days", 12, -1, 0), ("-2147483648 days", 0, Int32.min, 0),
    ])
    func intervalsAreWrittenAsTheServerWritesThem(text: String, months: Int32, days: Int32, microseconds: Int64) {
        let interval = PostgresInterval(months: months, days: days, microseconds: microseconds)
        #expect(interval.description == text)
        #expect(PostgresInterval(text) == interval)
    }

    @Test(arguments: [
        ("2 weeks", "14 days"), ("1 hour 30 minutes", "01:30:00"), ("90 min", "01:30:00"),
        ("1.5 seconds", "00:00:01.5"),
        ("250 ms", "00:00:00.25"), ("7 us", "00:00:00.000007"), ("1day", "1 day"),
        ("P1Y2M3DT4H5M6.789S", "1 year 2 mons 3 days 04:05:06.789"),
        ("P2W", "14 days"), ("PT36H", "36:00:00"), ("P-1M", "-1 mons"), ("PT-0.5S", "-00:00:00.5"),
        ("04:05", "04:05:00"),
        ("3 Days", "3 days"), ("+1 day", "1 day"),
    ])
    func commonSpellingsAreRead(text: String, description: String) throws {
        #expect(try #require(PostgresInterval(text)).description == description)
    }

    @Test(arguments: [
        "", " ", "P", "PT", "1", "day", "1 fortnight", "1.5 days", "1 day 2 days", "1 day ", " 1 day", "04:60:00",
        "04:05:60",
        "2562047788:00:54.775808", "2562047788:59:59", "-2562047788:00:54.775809", "99999999999999999:00:00",
        "2562047789:00:00", "9999999999 years", "178956971 years", "2147483648 days", "999999999999999999 weeks",
        "1 day ago",
        "P1H", "PT1D", "P1YT", "1e3 days", "1:00:00:00", "00:00:00.1234567", "01:00:00 1 hour", "PT1S2S", "@ 1 day",
        "999999999999999999 s", "99999999999999999999 days",
    ])
    func otherTextsAreNone(text: String) {
        #expect(PostgresInterval(text) == nil)
    }

    @Test func infinitiesHaveNames() {
        #expect(PostgresInterval("infinity") == .infinity && PostgresInterval.infinity.description == "infinity")
        #expect(PostgresInterval("-infinity") == .negativeInfinity)
    }

    @Test func durationsAreExactOrNothing() {
        #expect(PostgresInterval(exactly: .milliseconds(-1500))?.description == "-00:00:01.5")
        #expect(PostgresInterval(exactly: .nanoseconds(1)) == nil)
        #expect(PostgresInterval(exactly: .seconds(Int64.max)) == nil)
        #expect(Duration(exactly: PostgresInterval(microseconds: .min)) == .microseconds(Int64.min))
        #expect(Duration(exactly: PostgresInterval(days: 1)) == nil)
    }
}
