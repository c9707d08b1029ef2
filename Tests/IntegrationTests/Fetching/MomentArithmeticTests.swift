import Foundation
import Kindred
import KindredTesting
import TestSupport
import Testing

/// Arithmetic with days and moments gives what the server gives, and nil where the server refuses it.
@Suite(
    .database(
        .sql(
            """
            CREATE FUNCTION tried(expression text) RETURNS text LANGUAGE plpgsql AS $$
            DECLARE result text;
            BEGIN
                EXECUTE 'SELECT (' || expression || ')::text' INTO result;
                RETURN result;
            EXCEPTION WHEN datetime_field_overflow OR invalid_parameter_value OR numeric_value_out_of_range THEN RETURN NULL;
            END $$;
            """)))
struct MomentArithmeticTests {
    /// What the server gives for expressions; nil for its errors.
    private func server(_ expressions: [String]) async throws -> [String?] {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        let rows = try await client.query(
            "SELECT tried(e) FROM unnest(\(expressions)) WITH ORDINALITY AS e (e, n) ORDER BY n")
        let values = try rows.map { try $0.decode(0, as: String.self) }
        await client.close()
        return values
    }

    @Test(arguments: 1...4) func momentsMoveAsOnTheServer(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var cases: [(expression: String, own: String?)] = []
        for _ in 0..<500 {
            let isFar = Bool.random(using: &generator)
            func number(_ near: Int32) -> Int32 {
                isFar
                    ? Int32.random(in: .min ... .max, using: &generator)
                    : Int32.random(in: -near...near, using: &generator)
            }
            let moment = RandomValue.timestamp(&generator)
            let interval = PostgresInterval(
                months: number(40), days: number(400),
                microseconds: isFar
                    ? Int64.random(in: .min ... .max, using: &generator)
                    : Int64.random(in: -200_000_000_000...200_000_000_000, using: &generator))
            let (time, span) = ("'\(moment)'::timestamp", "'\(interval)'::interval")
            cases.append(("\(time) + \(span)", moment.adding(interval)?.description))
            cases.append(("\(time) - \(span)", moment.subtracting(interval)?.description))
            let other = RandomValue.timestamp(&generator)
            // Servers before PostgreSQL 17 give a wrong interval for moments that are more than 292,000 years apart.
            if let distance = other.interval(since: moment) {
                cases.append(("'\(other)'::timestamp - \(time)", distance.description))
            }
            let day = RandomValue.date(&generator)
            let days = number(1_000_000)
            cases.append(("'\(day)'::date + \(days)", day.adding(days: Int(days))?.description))
            let months = Int32.random(in: -50_000...50_000, using: &generator)
            if let midnight = PostgresTimestamp(date: day), midnight.isFinite {
                let moved = day.adding(months: Int(months)).flatMap { PostgresTimestamp(date: $0) }
                cases.append(("'\(midnight)'::timestamp + make_interval(months => \(months))", moved?.description))
            }
            let end = RandomValue.date(&generator)
            cases.append(("'\(end)'::date - '\(day)'::date", end.days(since: day).map(String.init)))
        }
        for (item, expected) in zip(cases, try await server(cases.map(\.expression))) {
            #expect(item.own == expected, "\(item.expression)")
        }
        #expect(cases.contains { $0.own == nil } && cases.count { $0.own != nil } > 1_500)
    }

    @Test func daysBeginAsOnTheServer() async throws {
        var generator = SeededGenerator(seed: 7)
        // The last four have changed their clocks at midnight.
        let zones = [
            "UTC", "Europe/Oslo", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago",
            "Asia/Beirut",
            "America/Sao_Paulo", "America/Havana", "Asia/Gaza",
        ]
        for zone in zones {
            let timeZone = try #require(TimeZone(identifier: zone))
            let first = try #require(PostgresDate("1995-01-01"))
            let days = (0..<365 * 20).filter { _ in Int.random(in: 0..<10, using: &generator) == 0 || zone.count == 17 }
                .compactMap { first.adding(days: $0) }
            // The earliest of the hours around at which the clock shows the day.
            let expected = try await server(
                days.map { day in
                    """
                    SELECT extract(epoch FROM min(t)) FROM generate_series(timestamptz '\(day) 00:00 UTC' - interval '15 h',
                    timestamptz '\(day) 00:00 UTC' + interval '15 h', '15 min') AS t WHERE (t AT TIME ZONE '\(zone)')::date = '\(day)'
                    """
                })
            for (day, seconds) in zip(days, expected) {
                let start = try #require(day.start(in: timeZone))
                #expect(seconds.flatMap(Double.init) == start.timeIntervalSince1970, "\(day) \(zone)")
                #expect(PostgresDate(start, in: timeZone) == day)
            }
        }
        #expect(PostgresDate.infinity.start(in: .gmt) == nil && PostgresDate.infinity.adding(days: 1) == .infinity)
        #expect(PostgresDate.today.adding(days: .max) == nil && PostgresDate.today.adding(months: .min) == nil)
    }
}
