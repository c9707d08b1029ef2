/// Days of the proleptic Gregorian calendar, which PostgreSQL uses for all dates.
enum CivilDate {
    /// Days from 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
    private static let epochOffset: Int64 = 10_957
    static let microsecondsPerDay: Int64 = 86_400_000_000

    /// Year (0 is 1 BC), month and day of a number of days since 2000-01-01.
    ///
    /// Counts in eras of 400 years that begin on the first of March, so that a leap day ends its year.
    static func civil(fromDays days: Int64) -> (year: Int64, month: Int, day: Int) {
        let shifted = days + epochOffset + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, Int(month), Int(day))
    }

    /// The days since 2000-01-01; nil if there is no such day.
    static func days(year: Int64, month: Int, day: Int) -> Int64? {
        guard (1...12).contains(month), (1...31).contains(day), (-10_000_000...10_000_000).contains(year) else {
            return nil
        }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredDivision(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468 - epochOffset
        // An invalid day such as 30 February converts back to another day.
        let check = civil(fromDays: days)
        return check == (year, month, day) ? days : nil
    }

    /// `2024-02-29`, `0044-03-15 BC` in two parts.
    static func text(days: Int64) -> (date: String, era: String) {
        let (year, month, day) = civil(fromDays: days)
        let shown = year > 0 ? year : 1 - year
        return ("\(padded(shown, 4))-\(padded(Int64(month), 2))-\(padded(Int64(day), 2))", year > 0 ? "" : " BC")
    }

    /// `12:34:56`, with as many digits of a fraction as needed.
    static func text(microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        var text = "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        var fraction = microseconds % 1_000_000
        if fraction > 0 {
            var digits = 6
            while fraction % 10 == 0 {
                fraction /= 10
                digits -= 1
            }
            text += ".\(padded(fraction, digits))"
        }
        return text
    }

    /// `+02`, `-03:30`, `+00:19:32` of seconds east of Greenwich.
    static func text(offset: Int) -> String {
        let size = Int64(abs(offset))
        var text = "\(offset < 0 ? "-" : "+")\(padded(size / 3600, 2))"
        if size % 3600 != 0 { text += ":\(padded(size / 60 % 60, 2))" }
        if size % 60 != 0 { text += ":\(padded(size % 60, 2))" }
        return text
    }

    static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return text.utf8.count < width ? String(repeating: "0", count: width - text.utf8.count) + text : text
    }
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
