import Foundation
import Kindred
import TestSupport
import TypeModels

extension OperatorWriter {
    /// Moments, moved by intervals or compared by the time between them.
    mutating func moments<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedCase<Root> {
        let seen = other.term("seen", { $0.seen }, { $0.seen })
        let own = place.term("seen", { $0.seen }, { $0.seen })
        let born = place.term("born", { $0.born }, { $0.born })
        let moments = (5...20).compactMap { PostgresTimestamp(date: OperatorWorld.day($0)) }
        let lasting = other.term("lasting", { $0.lasting }, { $0.lasting })
        let interval = random.pick(OperatorWorld.intervals)
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let days = (5...20).map(OperatorWorld.day)
            return compare(born, other.term("born", { $0.born }, { $0.born }), days, <)
        case 1: return compare(own, seen, moments, <)
        case 2, 3:
            let moved = moved(
                own, lasting, "timestamp", { $0 },
                later: { $0 + interval }, earlier: { $0 - interval },
                laterBy: { $0 + $1 }, earlierBy: { $0 - $1 }, interval)
            return compare(moved, seen, moments, <)
        case 4:
            let moved = moved(
                born, lasting, "date", { PostgresTimestamp(date: $0) },
                later: { $0 + interval }, earlier: { $0 - interval },
                laterBy: { $0 + $1 }, earlierBy: { $0 - $1 }, interval)
            return compare(moved, seen, moments, <)
        case 5: return numbers(days(place, other), days(other, place))
        default: return spans(place, other)
        }
    }

    /// A moment moved by an interval, a given one or a column's.
    private mutating func moved<Root, Start>(
        _ start: TypedTerm<Root, Start>,
        _ lasting: TypedTerm<Root, PostgresInterval>,
        _ kind: String,
        _ moment: @escaping (Start) -> PostgresTimestamp?,
        later: @escaping (ColumnExpression<Start>) -> ColumnExpression<PostgresTimestamp>,
        earlier: @escaping (ColumnExpression<Start>) -> ColumnExpression<PostgresTimestamp>,
        laterBy:
            @escaping (ColumnExpression<Start>, ColumnExpression<PostgresInterval>)
            -> ColumnExpression<PostgresTimestamp>,
        earlierBy:
            @escaping (ColumnExpression<Start>, ColumnExpression<PostgresInterval>)
            -> ColumnExpression<PostgresTimestamp>,
        _ interval: PostgresInterval
    ) -> TypedTerm<Root, PostgresTimestamp> {
        let (isLater, isColumn) = (Bool.random(using: &random), Bool.random(using: &random))
        let name = use("\(kind) \(isLater ? "+" : "-") \(isColumn ? "column" : "interval")")
        return TypedTerm(text: "(\(start.text) \(name) \(isColumn ? lasting.text : "\(interval)"))") {
            let column = start.column($0)
            if isColumn { return (isLater ? laterBy : earlierBy)(column, lasting.column($0)) }
            return (isLater ? later : earlier)(column)
        } value: {
            guard let from = start.value($0).flatMap(moment), let by = isColumn ? lasting.value($0) : interval
            else { return nil }
            return PostgresTimestamp(
                microsecondsSince2000: from.microsecondsSince2000 + (isLater ? 1 : -1) * Self.length(by))
        }
    }

    /// The days between two dates of keepers.
    private mutating func days<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedTerm<Root, Int> {
        TypedTerm(text: "(\(place.text).born \(use("date - date column")) \(other.text).born)") {
            place.columns($0).born - other.columns($0).born
        } value: {
            guard let first = place.object($0)?.born, let second = other.object($0)?.born else { return nil }
            return Int(first.daysSince2000 - second.daysSince2000)
        }
    }

    /// Intervals: a column's, or the time between two moments.
    private mutating func spans<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ other: TypedPlace<Root, Keeper>
    ) -> TypedCase<Root> {
        let lasting = other.term("lasting", { $0.lasting }, { $0.lasting })
        let moment = random.pick((5...20).compactMap { PostgresTimestamp(date: OperatorWorld.day($0)) })
        func span(_ first: PostgresTimestamp?, _ second: PostgresTimestamp?) -> PostgresInterval? {
            guard let first, let second else { return nil }
            return PostgresInterval(microseconds: first.microsecondsSince2000 - second.microsecondsSince2000)
        }
        let left: TypedTerm<Root, PostgresInterval>
        switch Int.random(in: 0..<3, using: &random) {
        case 0: left = place.term("lasting", { $0.lasting }, { $0.lasting })
        case 1:
            left = place.term("seen \(use("timestamp - timestamp")) \(moment)", { $0.seen - moment }) {
                span($0.seen, moment)
            }
        default:
            left = TypedTerm(text: "(\(place.text).seen \(use("timestamp - timestamp column")) \(other.text).seen)") {
                place.columns($0).seen - other.columns($0).seen
            } value: {
                span(place.object($0)?.seen, other.object($0)?.seen)
            }
        }
        return compare(left, lasting, OperatorWorld.intervals) { Self.length($0) < Self.length($1) }
    }

    /// How long the server takes an interval to be.
    static func length(_ interval: PostgresInterval) -> Int64 {
        (Int64(interval.months) * 30 + Int64(interval.days)) * 86_400_000_000 + interval.microseconds
    }

    /// Dates of Foundation's.
    mutating func visitCase() -> TypedCase<DatedVisit> {
        let place = TypedPlace<DatedVisit, DatedVisit>(text: "$0", columns: { $0 }, object: { $0 })
        let (began, ended) = (
            place.term("began", { $0.began }, { $0.began }), place.term("ended", { $0.ended }, { $0.ended })
        )
        let interval = random.pick(OperatorWorld.intervals)
        let seconds = Double(Self.length(interval)) / 1_000_000
        let dates = (0..<10).map(OperatorWorld.moment)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let moved = place.term("ended \(use("Date + interval")) \(interval)", { $0.ended + interval }) {
                $0.ended?.addingTimeInterval(seconds)
            }
            return compare(moved, began, dates, <)
        case 1:
            let moved = place.term("ended \(use("Date - interval")) \(interval)", { $0.ended - interval }) {
                $0.ended?.addingTimeInterval(-seconds)
            }
            return compare(moved, began, dates, <)
        case 2:
            let date = random.pick(dates)
            let span = place.term("ended \(use("Date - Date")) \(date)", { $0.ended - date }) {
                $0.ended.map { PostgresInterval(microseconds: Int64($0.timeIntervalSince(date)) * 1_000_000) }
            }
            return compare(span, span, OperatorWorld.intervals) { Self.length($0) < Self.length($1) }
        case 3:
            let span = place.term("ended \(use("Date - Date column")) began", { $0.ended - $0.began }) { visit in
                visit.ended.map {
                    PostgresInterval(microseconds: Int64($0.timeIntervalSince(visit.began)) * 1_000_000)
                }
            }
            return compare(span, span, OperatorWorld.intervals) { Self.length($0) < Self.length($1) }
        default: return compare(ended, began, dates, <)
        }
    }
}
