import Testing

@testable import Kindred
@testable import KindredLive

/// The signals that end a pause of the reader.
@Suite(.timeLimit(.minutes(1))) struct ReaderSignalTests {
    private let signal = ReaderSignal()
    private let clock = ContinuousClock()

    @Test func tasksThatWaitEndEveryPause() async {
        signal.ask()
        #expect(await signal.wait(.seconds(600), hearsAll: false) == false)
        signal.ask()
        #expect(await signal.wait(.seconds(600), hearsAll: true) == false)
    }

    @Test func wishesAndNotificationsEndNoPauseWhileChangesGoOn() async {
        for signalled in [signal.wish, signal.notify] {
            signalled()
            let pause = await clock.measure { _ = await signal.wait(.milliseconds(20), hearsAll: false) }
            #expect(pause >= .milliseconds(20))
        }
        // The step behind the pause has fulfilled the wish; a notification still ends a pause.
        #expect(await signal.wait(.seconds(600), hearsAll: true))
        let pause = await clock.measure { _ = await signal.wait(.milliseconds(20), hearsAll: true) }
        #expect(pause >= .milliseconds(20))
        signal.wish()
        #expect(await signal.wait(.seconds(600), hearsAll: true) == false)
    }
}
