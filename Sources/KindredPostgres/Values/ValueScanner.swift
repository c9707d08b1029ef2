/// Reads the texts in which the server prints dates and times.
///
/// Every method gives nil for what it cannot read.
struct ValueScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// An unsigned number of at most 18 digits.
    mutating func number(digits expected: ClosedRange<Int> = 1...18) -> Int64? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard expected.contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// `2024-02-29`, `0044-03-15 BC`: days since 2000-01-01.
    mutating func date() -> Int64? {
        guard let date = plainDate() else { return nil }
        return days(date)
    }

    /// `2024-02-29 12:34:56.789+02 BC`: microseconds since 2000-01-01, in UTC if there is an offset.
    mutating func timestamp() -> Int64? {
        guard let date = plainDate() else { return nil }
        var microseconds: Int64 = 0
        if skip(" ") || skip("T") {
            if skip("B") { return skip("C") && isAtEnd ? days(date, isBC: true)?.asMicroseconds : nil }
            guard let time = time() else { return nil }
            microseconds = time
            if !skip("Z"), let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                guard let offset = offset() else { return nil }
                microseconds -= Int64(offset) * 1_000_000
            }
        }
        guard let days = days(date), isAtEnd, let start = days.asMicroseconds else { return nil }
        let (sum, overflow) = start.addingReportingOverflow(microseconds)
        return overflow ? nil : sum
    }

    /// `12:34:56.789`: microseconds.
    mutating func time() -> Int64? {
        guard let hours = number(digits: 1...2), hours <= 24, skip(":"), let minutes = number(digits: 2...2),
            minutes < 60
        else { return nil }
        var microseconds = (hours * 60 + minutes) * 60_000_000
        if skip(":") {
            guard let seconds = number(digits: 2...2), seconds <= 60, let fraction = fraction() else { return nil }
            microseconds += seconds * 1_000_000 + fraction
        }
        return microseconds <= CivilDate.microsecondsPerDay ? microseconds : nil
    }

    /// `+02`, `-03:30`, `+00:19:32`: seconds east of Greenwich.
    mutating func offset() -> Int? {
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = number(digits: 1...2) else { return nil }
        var seconds = hours * 3600
        if skip(":") {
            guard let minutes = number(digits: 2...2), minutes < 60 else { return nil }
            seconds += minutes * 60
            if skip(":") {
                guard let rest = number(digits: 2...2), rest < 60 else { return nil }
                seconds += rest
            }
        }
        return Int(isNegative ? -seconds : seconds)
    }

    /// `1 year 2 mons -3 days +04:05:06.789`.
    mutating func interval() -> PostgresInterval? {
        var months: Int64 = 0
        var days: Int64 = 0
        var microseconds: Int64?
        guard !isAtEnd else { return nil }
        repeat {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard let value = number() else { return nil }
            if skip(":") {
                guard microseconds == nil, value < 2_562_047_789, let minutes = number(digits: 2...2), skip(":"),
                    let seconds = number(digits: 2...2), let fraction = fraction()
                else { return nil }
                let size = value * 3_600_000_000 + minutes * 60_000_000 + seconds * 1_000_000 + fraction
                microseconds = isNegative ? -size : size
            } else {
                guard value < 1 << 32, skip(" ") else { return nil }
                let signed = isNegative ? -value : value
                let unit = String(rest.prefix { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") })
                switch unit {
                case "year", "years": months += 12 * signed
                case "mon", "mons", "month", "months": months += signed
                case "day", "days": days += signed
                default: return nil
                }
                rest = rest.dropFirst(unit?.utf8.count ?? 0)
            }
        } while skip(" ")
        guard isAtEnd, let months = Int32(exactly: months), let days = Int32(exactly: days) else { return nil }
        return PostgresInterval(months: months, days: days, microseconds: microseconds ?? 0)
    }

    /// Nothing, or a point and up to six digits: microseconds.
    private mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        let before = rest.count
        guard let digits = number(digits: 1...6) else { return nil }
        return (before - rest.count..<6).reduce(digits) { value, _ in value * 10 }
    }

    private mutating func plainDate() -> (year: Int64, month: Int, day: Int)? {
        guard let year = number(digits: 1...7), skip("-"), let month = number(digits: 1...2), skip("-"),
            let day = number(digits: 1...2)
        else { return nil }
        return (year, Int(month), Int(day))
    }

    /// The days of a date that may be followed by ` BC`, for which there is no year 0.
    private mutating func days(_ date: (year: Int64, month: Int, day: Int), isBC: Bool = false) -> Int64? {
        var isBC = isBC
        if rest.elementsEqual(" BC".utf8) {
            rest = rest.dropFirst(3)
            isBC = true
        }
        guard date.year > 0 else { return nil }
        return CivilDate.days(year: isBC ? 1 - date.year : date.year, month: date.month, day: date.day)
    }
}

extension Int64 {
    /// Days as microseconds; nil beyond 64 bits.
    fileprivate var asMicroseconds: Int64? {
        let (product, overflow) = multipliedReportingOverflow(by: CivilDate.microsecondsPerDay)
        return overflow ? nil : product
    }
}
