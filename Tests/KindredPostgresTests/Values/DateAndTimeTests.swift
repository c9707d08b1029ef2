import Foundation
import KindredPostgres
import TestSupport
import Testing

@Suite struct DateAndTimeTests {
    @Test(arguments: [
        ("2000-01-01", 0), ("1999-12-31", -1), ("1970-01-01", -10_957), ("2024-02-29", 8825), ("0001-01-01", -730_119),
        ("0001-12-31 BC", -730_120), ("4714-11-24 BC", -2_451_545), ("5874897-12-31", 2_145_031_948),
        ("1582-10-10", -152_389), ("2000-02-29", 59), ("1900-03-01", -36_465), ("0044-03-15 BC", -746_117),
    ])
    func datesAreDaysSince2000(text: String, days: Int32) throws {
        let date = try #require(PostgresDate(text))
        #expect(date.daysSince2000 == days)
        #expect(date.description == text)
    }

    @Test(arguments: [
        "", "2024-02-30", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32",
        "0000-01-01",
        "4714-11-23 BC", "5874898-01-01", "24-01-01", "2024-1-1", "2024/01/01", "2024-01-01 ", " 2024-01-01",
        "2024-01-01 AD", "2024-01-01BC", "-2024-01-01", "99999999-01-01", "2024-01-01T00:00", "Infinity", "today",
    ])
    func otherDatesAreNone(text: String) {
        #expect(PostgresDate(text) == nil)
    }

    @Test func partsOfDatesAreChecked() throws {
        #expect(PostgresDate(year: 2024, month: 2, day: 29)?.description == "2024-02-29")
        #expect(PostgresDate(year: 0, month: 12, day: 31)?.description == "0001-12-31 BC")
        for (year, month, day) in [(2023, 2, 29), (.min, 1, 1), (.max, 1, 1), (2024, .min, 1), (2024, 1, .max)] {
            #expect(PostgresDate(year: year, month: month, day: day) == nil)
        }
        let parts = try #require(PostgresDate("0044-03-15 BC")?.components)
        #expect(parts == (-43, 3, 15))
        #expect(PostgresDate.infinity.components == nil && PostgresDate.infinity.description == "infinity")
        #expect(PostgresDate("-infinity") == .negativeInfinity && .negativeInfinity < PostgresDate(daysSince2000: 0)!)
    }

    @Test func everyDayOfFourCenturiesFollowsTheOneBefore() {
        // Counting by hand, month by month.
        var days: Int64 = -36_524
        for year in 1900..<2300 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                for day in 1...length {
                    let date = PostgresDate(daysSince2000: days)
                    let isRight = date?.components.map { $0 == (year, month + 1, day) } ?? false
                    if !isRight { Issue.record("\(days) is not \(year)-\(month + 1)-\(day)") }
                    days += 1
                }
            }
        }
    }

    @Test(arguments: [
        ("00:00:00", 0), ("24:00:00", 86_400_000_000), ("12:34:56.789", 45_296_789_000),
        ("23:59:59.999999", 86_399_999_999),
        ("00:00:00.000001", 1),
    ])
    func timesAreMicroseconds(text: String, microseconds: Int64) throws {
        let time = try #require(PostgresTime(text))
        #expect(time.microseconds == microseconds)
        #expect(time.description == text)
    }

    @Test(arguments: [
        "", "24:00:01", "24:00:00.000001", "12:60", "12:34:60", "12:34:61", "1:00", "12", "12:3", "12:34:5",
        "12:34:56.",
        "12:34:56.1234567", "-01:00", "12:34:56 PM", "12:34:56+02", "25:00",
    ])
    func otherTimesAreNone(text: String) {
        #expect(PostgresTime(text) == nil)
    }

    @Test func partsOfTimesAreChecked() {
        #expect(PostgresTime(hour: 24, minute: 0)?.description == "24:00:00")
        #expect(PostgresTime(hour: 24, minute: 0, second: 1) == nil)
        #expect(PostgresTime(hour: .max, minute: .max, second: .max, microsecond: .max) == nil)
        #expect(
            PostgresTime(hour: 9, minute: 5, second: 7, microsecond: 90)?.components ?? (0, 0, 0, 0) == (9, 5, 7, 90))
    }

    @Test(arguments: [
        ("12:34:56+02", 7200), ("00:00:00-03:30", -12_600), ("24:00:00+15:59:59", 57_599), ("12:00:00+00", 0),
        ("12:00:00-15:59:59", -57_599), ("12:00:00+00:19:32", 1172),
    ])
    func timesHaveZones(text: String, offset: Int) throws {
        let time = try #require(PostgresTimeTZ(text))
        #expect(time.secondsFromGMT == offset)
        #expect(time.description == text)
    }

    @Test(arguments: [
        "12:00", "12:00+16", "12:00-16:00", "12:00+2", "12:00+02:60", "12:00+02:00:60", "12:00 UTC", "12:00+",
    ])
    func otherZonesAreNone(text: String) {
        #expect(PostgresTimeTZ(text) == nil)
    }

    @Test func zonesOutOfRangeAreNone() {
        for offset in [57_600, -57_600, Int.max, Int.min] {
            #expect(PostgresTimeTZ(time: .midnight, secondsFromGMT: offset) == nil)
        }
    }

    @Test(arguments: [
        ("2000-01-01 00:00:00", 0), ("1999-12-31 23:59:59.999999", -1),
        ("4714-11-24 00:00:00 BC", -211_813_488_000_000_000),
        ("294276-12-31 23:59:59.999999", 9_223_371_331_199_999_999),
        ("0001-01-01 00:00:00", -63_082_281_600_000_000), ("0001-12-31 23:59:59.5 BC", -63_082_281_600_500_000),
    ])
    func timestampsAreMicroseconds(text: String, microseconds: Int64) throws {
        let timestamp = try #require(PostgresTimestamp(text))
        #expect(timestamp.microsecondsSince2000 == microseconds)
        #expect(timestamp.description == text)
    }

    @Test(arguments: [
        ("2000-01-01 02:00:00+02", "2000-01-01 00:00:00"), ("2000-01-01T00:00:00Z", "2000-01-01 00:00:00"),
        ("2000-01-01 00:00:00-03:30", "2000-01-01 03:30:00"), ("2000-01-01", "2000-01-01 00:00:00"),
        ("2000-01-01 24:00:00", "2000-01-02 00:00:00"), ("0044-03-15 BC", "0044-03-15 00:00:00 BC"),
        ("2000-01-01T12:30", "2000-01-01 12:30:00"), ("2000-01-01 00:00:00+0530", "1999-12-31 18:30:00"),
        ("0001-01-01 00:00:00+01", "0001-12-31 23:00:00 BC"), ("0044-03-15 12:00:00+00 BC", "0044-03-15 12:00:00 BC"),
    ])
    func offsetsAreTakenOff(text: String, description: String) throws {
        #expect(try #require(PostgresTimestamp(text)).description == description)
    }

    @Test(arguments: [
        "", "4714-11-23 23:59:59.999999 BC", "294277-01-01 00:00:00", "4714-11-24 00:00:00+01 BC",
        "2024-02-30 00:00:00",
        "2024-01-01 12", "2024-01-01  12:00", "2024-01-01 12:00:60", "2024-01-01 12:00:00+99",
        "2024-01-01 12:00:00.1234567",
        "2024-01-01 12:00:00 ", "2024-01-01 12:00:00+02 AD", "now", "epoch", "2024-01-01 12:00 CET", "2024-01-01x",
        "5874897-12-31", "294276-12-31 24:00:00",
    ])
    func otherTimestampsAreNone(text: String) {
        #expect(PostgresTimestamp(text) == nil)
    }

    @Test func aTimestampWithoutZoneTakesNoOffset() {
        let text = "2024-01-01 12:00:00+02"
        expectError(.invalidParameter) { try PostgresValue(text: text, type: .timestamp) }
        #expect(throws: Never.self) { try PostgresValue(text: text, type: .timestamptz) }
    }

    @Test func timestampsAreDatesAndTimes() throws {
        let timestamp = try #require(PostgresTimestamp("1999-12-31 23:59:59.999999"))
        #expect(timestamp.date.description == "1999-12-31" && timestamp.time?.description == "23:59:59.999999")
        #expect(PostgresTimestamp.infinity.date == .infinity && PostgresTimestamp.infinity.time == nil)
        #expect(PostgresTimestamp.negativeInfinity.date == .negativeInfinity)
        #expect(PostgresTimestamp(date: .negativeInfinity) == .negativeInfinity)
        #expect(PostgresTimestamp(date: try #require(PostgresDate("294277-01-01"))) == nil)
        #expect(PostgresTimestamp(date: try #require(PostgresDate("5874897-12-31"))) == nil)
    }

    @Test func microsecondsSurviveFoundationsDates() throws {
        var generator = SeededGenerator(seed: 8)
        let reach: Int64 = 271 * 365 * 86_400_000_000
        for _ in 0..<5000 {
            let microseconds = Int64.random(in: -reach...reach, using: &generator)
            let timestamp = try #require(PostgresTimestamp(microsecondsSince2000: microseconds))
            let date = try #require(Date(exactly: timestamp))
            #expect(PostgresTimestamp(date) == timestamp)
        }
    }

    @Test func datesBeyondTheRangeAreNone() throws {
        #expect(PostgresTimestamp(Date(timeIntervalSince1970: 0))?.description == "1970-01-01 00:00:00")
        #expect(
            PostgresTimestamp(Date(timeIntervalSince1970: 0.0000005))?.microsecondsSince2000 == -946_684_800_000_000)
        #expect(PostgresTimestamp(Date.distantPast) != nil && PostgresTimestamp(Date.distantFuture) != nil)
        for seconds in [1e300, -1e300, 1e13, -1e12, .infinity, -.infinity, .nan] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(PostgresTimestamp(date) == nil, "\(seconds)")
            expectError(.invalidParameter) { try date.postgresValue }
        }
        #expect(Date(exactly: .infinity) == nil)
        // So far from 2001 a date's doubles are 30 microseconds apart.
        let farAway = try #require(PostgresTimestamp("9999-12-31 23:59:59.999999"))
        #expect(Date(exactly: farAway) == nil)
        #expect(try Date(exactly: #require(PostgresTimestamp("9999-12-31 23:59:59"))) != nil)
    }

    @Test func aDayDependsOnTheZone() throws {
        let date = Date(timeIntervalSince1970: 0)
        #expect(PostgresDate(date, in: .gmt)?.description == "1970-01-01")
        #expect(PostgresDate(date, in: try #require(TimeZone(secondsFromGMT: -3600)))?.description == "1969-12-31")
    }

    @Test func datesBeyondTheRangeAreClamped() {
        let moment = Date(timeIntervalSince1970: 1_700_000_000.25)
        #expect(PostgresTimestamp(clamping: moment) == PostgresTimestamp(moment))
        #expect(PostgresTimestamp(clamping: Date(timeIntervalSince1970: 1e300)) == .infinity)
        #expect(PostgresTimestamp(clamping: Date(timeIntervalSince1970: -1e300)) == .negativeInfinity)
        #expect(
            PostgresTimestamp(clamping: .distantPast).isFinite && PostgresTimestamp(clamping: .distantFuture).isFinite)
        let before = PostgresTimestamp.now.date
        let today = PostgresDate.today
        #expect(before <= today && today <= PostgresTimestamp.now.date)
    }
}
