import TestSupport
import Testing

@testable import KindredPostgres

/// The 99th percentile of each statement's answers.
@Suite struct AnswerTimesTests {
    private func note(_ milliseconds: [Double], of text: StatementText, _ times: inout AnswerTimes) -> Duration? {
        for time in milliseconds {
            let place = times.place(of: text)
            times.note(.nanoseconds(Int64(time * 1_000_000)), of: text, at: place)
        }
        let place = times.place(of: text)
        return times.percentile(at: place)
    }

    @Test func nineAnswersSayNothingAndTenTheGreatest() {
        var times = AnswerTimes()
        let text = StatementText("SELECT 1")
        #expect(note(Array(repeating: 1, count: 9), of: text, &times) == nil)
        #expect(note([1], of: text, &times) == .microseconds(4_096))
        let percentile = note([500], of: text, &times)
        #expect(percentile.map { (.milliseconds(500) ... .milliseconds(625)).contains($0) } == true)
        // Of another text it says nothing.
        #expect(note([], of: StatementText("SELECT 2"), &times) == nil)
    }

    /// It is never below the exact percentile, and at most a quarter above it.
    @Test func itIsTheEndOfTheRangeOfTheExactOne() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var times = AnswerTimes()
            let scale = Double.random(in: 0.1...5_000, using: &random)
            let count = Int.random(in: 10...1_000, using: &random)
            let values = (0..<count).map { _ in scale * Double.random(in: 0.01...8, using: &random) }
            let found = try #require(note(values, of: StatementText("SELECT 1"), &times)) / .milliseconds(1)
            let exact = values.sorted()[(count * 99 + 99) / 100 - 1]
            #expect(found >= exact && found <= max(4.096, exact * 1.251), "\(found) for \(exact)")
        }
    }

    @Test func laterAnswersCountForMore() {
        var times = AnswerTimes()
        let text = StatementText("SELECT 1")
        #expect(note(Array(repeating: 1_000, count: 5_000), of: text, &times) ?? .zero >= .seconds(1))
        #expect(note(Array(repeating: 1, count: 10_000), of: text, &times) == .microseconds(4_096))
        // Times without end stay in the last range.
        #expect(note(Array(repeating: 1e12, count: 2_000), of: text, &times) ?? .zero > .seconds(100))
    }

    @Test func textsThatAreNotAskedAreForgotten() {
        var times = AnswerTimes()
        let hot = (0..<100).map { StatementText("SELECT \($0)") }
        for text in hot { _ = note(Array(repeating: 1, count: 10), of: text, &times) }
        for cold in 0..<1_000 {
            let text = StatementText("SELECT 'cold', \(cold)")
            let place = times.place(of: text)
            times.note(.milliseconds(1), of: text, at: place)
            if cold % 50 == 0 { for text in hot { _ = times.place(of: text) } }
        }
        #expect(times.count == AnswerTimes.maximumTexts)
        let known = hot.filter { note([], of: $0, &times) != nil }
        #expect(known.count == hot.count)
        // An answer for a place that another text has taken is dropped.
        var place = times.place(of: StatementText("SELECT 'gone'"))
        for other in 0..<1_000 { _ = times.place(of: StatementText("SELECT 'other', \(other)")) }
        times.note(.seconds(9), of: StatementText("SELECT 'gone'"), at: place)
        place = times.place(of: StatementText("SELECT 'gone'"))
        #expect(times.percentile(at: place) == nil)
    }
}
