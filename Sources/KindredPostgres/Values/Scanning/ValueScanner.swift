/// Reads dates, times and timestamps as the server prints them and as ISO 8601 writes them.
///
/// Every method returns nil for a text that it cannot read exactly; nothing is rounded or guessed.
struct ValueScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text.utf8[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    var next: UInt8? { rest.first }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// An unsigned number of so many digits.
    mutating func number(digits expected: ClosedRange<Int>) -> Int64? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard expected.contains(digits.count), digits.count <= 18 else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// A word of letters, possibly empty.
    mutating func word() -> String? {
        let letters = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
        rest = rest.dropFirst(letters.count)
        return String(letters)
    }

    /// Nothing, or a point and one to six digits: microseconds.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        let before = rest.count
        guard let digits = number(digits: 1...6) else { return nil }
        return (before - rest.count..<6).reduce(digits) { value, _ in value * 10 }
    }

    /// The whole of `2024-02-29` or `0044-03-15 BC`: days since 2000-01-01.
    mutating func date() -> Int64? {
        guard let date = plainDate(), let days = days(date), isAtEnd else { return nil }
        return days
    }

    /// The whole of `2024-02-29 12:34:56.789+02 BC`: microseconds since 2000-01-01, in UTC if there is an offset.
    mutating func timestamp() -> (microseconds: Int64, hasOffset: Bool)? {
        guard let date = plainDate() else { return nil }
        var time: Int64 = 0
        var east: Int?
        // A date alone, or a date followed by its era, is its midnight.
        if !isAtEnd && !rest.elementsEqual(" BC".utf8) {
            guard skip(" ") || skip("T"), let read = self.time() else { return nil }
            time = read
            if skip("Z") {
                east = 0
            } else if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") {
                guard let offset = offset() else { return nil }
                east = offset
            }
        }
        guard let days = days(date), isAtEnd else { return nil }
        let (start, isTooLarge) = days.multipliedReportingOverflow(by: CivilDate.microsecondsPerDay)
        let (sum, isTooLargeAgain) = start.addingReportingOverflow(time - Int64(east ?? 0) * 1_000_000)
        return isTooLarge || isTooLargeAgain ? nil : (sum, east != nil)
    }

    /// `12:34:56.789`: microseconds, 24:00:00 at most.
    mutating func time() -> Int64? {
        guard let hours = number(digits: 2...2), skip(":"), let minutes = number(digits: 2...2), minutes < 60 else {
            return nil
        }
        var microseconds = (hours * 60 + minutes) * 60_000_000
        if skip(":") {
            guard let seconds = number(digits: 2...2), seconds < 60, let fraction = fraction() else { return nil }
            microseconds += seconds * 1_000_000 + fraction
        }
        return microseconds <= CivilDate.microsecondsPerDay ? microseconds : nil
    }

    /// `+02`, `-03:30`, `+0530`, `+00:19:32`: seconds east of Greenwich.
    mutating func offset() -> Int? {
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = number(digits: 2...2) ?? number(digits: 4...4) else { return nil }
        var seconds = hours < 100 ? hours * 3600 : hours / 100 * 3600 + hours % 100 * 60
        guard hours < 100 || hours % 100 < 60 else { return nil }
        if hours < 100, skip(":") {
            guard let minutes = number(digits: 2...2), minutes < 60 else { return nil }
            seconds += minutes * 60
            if skip(":") {
                guard let rest = number(digits: 2...2), rest < 60 else { return nil }
                seconds += rest
            }
        }
        guard seconds < 16 * 3600 else { return nil }
        return Int(isNegative ? -seconds : seconds)
    }

    private mutating func plainDate() -> (year: Int64, month: Int, day: Int)? {
        guard let year = number(digits: 4...7), skip("-"), let month = number(digits: 2...2), skip("-"),
            let day = number(digits: 2...2)
        else { return nil }
        return (year, Int(month), Int(day))
    }

    /// The days of a date that may be followed by ` BC`; there is no year 0.
    private mutating func days(_ date: (year: Int64, month: Int, day: Int)) -> Int64? {
        var year = date.year
        guard year > 0 else { return nil }
        if rest.elementsEqual(" BC".utf8) {
            rest = rest.dropFirst(3)
            year = 1 - year
        }
        return CivilDate.days(year: year, month: date.month, day: date.day)
    }
}
