/// How long the answers to statements took, by the text of the statement: enough to tell the 99th percentile of each.
///
/// Its size is fixed: 256 texts, and some sixty numbers for each. Of more texts it forgets a text that was not asked again for a while.
struct AnswerTimes: Sendable {
    /// The place of a text, as long as it is kept there.
    struct Place: Sendable {
        fileprivate let index: Int
    }

    private struct Entry {
        let text: StatementText
        /// The numbers of answers by the time that they took.
        var counts = [UInt16](repeating: 0, count: AnswerTimes.rangeCount)
        var total = 0
        /// Whether it was asked again since the hand has passed.
        var wasAsked = false
    }

    static let maximumTexts = 256
    /// The number of answers from which on the percentile is told.
    static let minimumCount = 10
    /// The number of answers at which all numbers are halved, so that later answers count for more.
    private static let maximumCount = 1_024
    /// The end of the first range, in binary digits of microseconds: 4 ms.
    private static let firstDigits = 12
    /// Four ranges for each doubling, up to 134 s.
    private static let rangeCount = 1 + 15 * 4

    private var entries: [Entry] = []
    private var places: [StatementText: Int] = [:]
    /// The entry that is looked at next for one to forget.
    private var hand = 0

    /// The number of texts.
    var count: Int { entries.count }

    /// The place of a text; a new one may take another's place.
    mutating func place(of text: StatementText) -> Place {
        if let index = places[text] {
            entries[index].wasAsked = true
            return Place(index: index)
        }
        if entries.count < Self.maximumTexts {
            entries.append(Entry(text: text))
            places[text] = entries.count - 1
            return Place(index: entries.count - 1)
        }
        while entries[hand].wasAsked {
            entries[hand].wasAsked = false
            hand = (hand + 1) % entries.count
        }
        let index = hand
        hand = (hand + 1) % entries.count
        places[entries[index].text] = nil
        entries[index] = Entry(text: text)
        places[text] = index
        return Place(index: index)
    }

    /// Takes the time of an answer, unless another text has the place now.
    mutating func note(_ time: Duration, of text: StatementText, at place: Place) {
        guard entries[place.index].text == text else { return }
        entries[place.index].counts[Self.range(of: time)] += 1
        entries[place.index].total += 1
        guard entries[place.index].total >= Self.maximumCount else { return }
        var total = 0
        for range in entries[place.index].counts.indices {
            entries[place.index].counts[range] /= 2
            total += Int(entries[place.index].counts[range])
        }
        entries[place.index].total = total
    }

    /// The time within which at least 99 of a hundred answers came: the end of its range, so at most a quarter too long, and 4 ms
    /// at least; nil where fewer than ten are known.
    func percentile(at place: Place) -> Duration? {
        let entry = entries[place.index]
        guard entry.total >= Self.minimumCount else { return nil }
        var count = 0
        for range in entry.counts.indices {
            count += Int(entry.counts[range])
            if count * 100 >= entry.total * 99 { return Self.end(of: range) }
        }
        return nil
    }

    private static func range(of time: Duration) -> Int {
        let microseconds = time.nanoseconds / 1_000
        guard microseconds >> UInt64(firstDigits) > 0 else { return 0 }
        let digits = UInt64.bitWidth - microseconds.leadingZeroBitCount - 1
        let quarter = Int(microseconds >> UInt64(digits - 2) & 3)
        return min(1 + (digits - firstDigits) * 4 + quarter, rangeCount - 1)
    }

    private static func end(of range: Int) -> Duration {
        guard range > 0 else { return .microseconds(1 << firstDigits) }
        let (doublings, quarter) = (range - 1).quotientAndRemainder(dividingBy: 4)
        return .microseconds((5 + quarter) << (firstDigits + doublings - 2))
    }
}
