import KindredPostgres
import Testing

@testable import Kindred

/// Which look-ups by key wait for others.
@Suite struct LookupTrafficTests {
    private let start = MonotonicTime.now

    /// Traffic over four connections with statements of one look-up each, and others that wait.
    private func traffic(
        alone: Int, waiting: Int = 0, patience: Duration = .milliseconds(20), processorCount: Int = 8
    ) -> LookupTraffic {
        var traffic = LookupTraffic(patience: patience, processorCount: processorCount)
        for _ in 0..<alone { traffic.begin(connectionCount: 4, now: start) }
        for _ in 0..<waiting { traffic.wait() }
        return traffic
    }

    private func shouldWait(_ traffic: LookupTraffic, after pause: Duration) -> Bool {
        traffic.shouldWait(connectionCount: 4, now: start + pause)
    }

    @Test func lookupsGoAloneWhileAConnectionIsFree() {
        for count in 0..<4 { #expect(!shouldWait(traffic(alone: count), after: .zero)) }
        #expect(shouldWait(traffic(alone: 4), after: .zero))
        #expect(shouldWait(traffic(alone: 7), after: .zero))
    }

    @Test func noLookupWaitsLongerThanPatience() {
        #expect(shouldWait(traffic(alone: 4), after: .microseconds(19_999)))
        #expect(!shouldWait(traffic(alone: 4), after: .milliseconds(20)))
        #expect(!shouldWait(traffic(alone: 4, patience: .zero), after: .zero))
        #expect(!shouldWait(traffic(alone: 3, waiting: 20, patience: .zero), after: .zero))
    }

    /// Traffic with as many look-ups as make half of the connections enough, and answers that came some time apart.
    private func manyLookups(
        answersEvery pause: Duration, count: Int = 40, processorCount: Int = 8
    ) -> (traffic: LookupTraffic, end: Duration) {
        var traffic = traffic(alone: 4, waiting: 6, processorCount: processorCount)
        for number in 1...count {
            traffic.wait()
            let now = start + pause * number
            traffic.end(lookupCount: 1, isFollowed: true, connectionCount: 4, now: now)
        }
        return (traffic, pause * count)
    }

    @Test func manyLookupsUseHalfOfTheConnectionsWhileAnswersComeFast() {
        var (many, end) = manyLookups(answersEvery: .microseconds(150))
        for left in [3, 2] {
            many.end(lookupCount: 1, isFollowed: false, connectionCount: 4, now: start + end)
            #expect(many.statementCount == left)
            #expect(shouldWait(many, after: end + .microseconds(199)))
            #expect(!shouldWait(many, after: end + .microseconds(200)))
        }
        // Eight are twice as many as there are connections; seven are not many, and one statement is less than half.
        #expect(many.lookupCount == 8)
        var few = many
        few.end(lookupCount: 1, isFollowed: true, connectionCount: 4, now: start + end)
        #expect(!shouldWait(few, after: end))
        many.wait()
        many.end(lookupCount: 1, isFollowed: false, connectionCount: 4, now: start + end)
        #expect(many.statementCount == 1 && !shouldWait(many, after: end))
    }

    /// The statements that are left under way when a crowd of nine waits for the next answer each time.
    @Test(arguments: [(1, 1), (2, 1), (3, 1), (4, 2), (6, 2), (64, 2)])
    func noMoreStatementsThanProcessorsCanServe(processorCount: Int, statementCount: Int) {
        var (many, end) = manyLookups(answersEvery: .microseconds(150), processorCount: processorCount)
        while shouldWait(many, after: end) {
            many.wait()
            many.end(lookupCount: 1, isFollowed: false, connectionCount: 4, now: start + end)
        }
        #expect(many.statementCount == statementCount - 1 && many.lookupCount >= 8)
    }

    @Test func whereAnswersTakeTheirTimeAllConnectionsAreUsed() {
        // A single fast answer is not enough; those that come 250 us apart are not fast.
        for (pause, count) in [(Duration.microseconds(150), 1), (.microseconds(250), 40), (.seconds(1), 40)] {
            var (many, end) = manyLookups(answersEvery: pause, count: count)
            #expect(shouldWait(many, after: end))
            many.end(lookupCount: 1, isFollowed: false, connectionCount: 4, now: start + end)
            #expect(many.statementCount == 3 && !shouldWait(many, after: end))
        }
        // After a long time without many look-ups some fast answers are enough.
        var (many, end) = manyLookups(answersEvery: .seconds(1))
        var needed = 0
        while many.statementCount == 4 || !shouldWait(many, after: end) {
            many.wait()
            end += .microseconds(100)
            many.end(lookupCount: 1, isFollowed: needed > 0, connectionCount: 4, now: start + end)
            needed += 1
        }
        #expect(needed == 9)
    }

    @Test func eachAnswerExtendsTheWait() {
        var many = traffic(alone: 4, waiting: 20)
        many.end(lookupCount: 1, isFollowed: true, connectionCount: 4, now: start + .milliseconds(15))
        #expect(many.statementCount == 4)
        #expect(shouldWait(many, after: .milliseconds(34)))
        #expect(!shouldWait(many, after: .milliseconds(35)))
    }

    @Test func whatWasBegunIsEndedAndNothingIsLeft() {
        var random = Generator(state: 7)
        for _ in 0..<200 {
            let connectionCount = 1 + random.next(5)
            var traffic = LookupTraffic(patience: .seconds(1), processorCount: 8)
            // The look-ups of each statement under way, and those that wait.
            var (statements, waiting) = ([Int](), 0)
            for _ in 0..<100 {
                if random.next(2) == 0 || statements.isEmpty {
                    let isFull = statements.count >= connectionCount
                    let waits = traffic.shouldWait(connectionCount: connectionCount, now: start)
                    #expect(waits || !isFull)
                    #expect(!waits || statements.count * 2 >= connectionCount)
                    if waits {
                        traffic.wait()
                        waiting += 1
                    } else {
                        traffic.begin(connectionCount: connectionCount, now: start)
                        statements.append(1)
                    }
                } else {
                    let count = statements.remove(at: random.next(statements.count))
                    traffic.end(
                        lookupCount: count, isFollowed: waiting > 0, connectionCount: connectionCount, now: start)
                    if waiting > 0 { statements.append(waiting) }
                    waiting = 0
                }
                #expect(traffic.statementCount == statements.count)
                #expect(traffic.lookupCount == statements.reduce(waiting, +))
                #expect(waiting == 0 || !statements.isEmpty)
            }
        }
    }
}
