import Synchronization
import Testing

@testable import KindredPostgres

/// Which servers may be written to, without servers.
@Suite struct PrimaryRecordTests {
    private func sighting(
        _ timeline: UInt32, system: UInt64 = 7, startedAt: String = "12.5"
    ) -> PrimaryRecord.Sighting {
        PrimaryRecord.Sighting(system: system, timeline: timeline, startedAt: startedAt)
    }

    @Test func theHighestTimelineWins() {
        let record = PrimaryRecord()
        let rises = Atomic(0)
        record.onChange { rises.add(1, ordering: .relaxed) }
        // The first one and its like raise nothing.
        #expect(record.admit(sighting(3)) == nil && record.admit(sighting(3)) == nil)
        #expect(rises.load(ordering: .relaxed) == 0)
        #expect(record.admit(sighting(5)) == nil)
        #expect(rises.load(ordering: .relaxed) == 1)
        #expect(record.admit(sighting(4))?.contains("timeline 5 was seen") == true)
        #expect(record.admit(sighting(9, system: 8))?.contains("another cluster") == true)
        #expect(rises.load(ordering: .relaxed) == 1)
        #expect(record.isOutdated(sighting(3)) && !record.isOutdated(sighting(5)) && !record.isOutdated(nil))
    }

    @Test func writesAreRefusedWhileThereAreTwo() {
        let record = PrimaryRecord()
        #expect(record.refusal == nil && !record.note(hasRival: false))
        #expect(record.note(hasRival: true) && !record.note(hasRival: true))
        #expect(record.refusal?.code == .twoPrimaries && record.refusal?.mayHaveTakenEffect == false)
        #expect(record.refusal?.category == .unavailable)
        #expect(record.note(hasRival: false) && record.refusal == nil)
    }

    @Test func twoThatTheFirstLookFindsAreUsedOnlyWhereSamplesGoOn() throws {
        #expect(sighting(3).isRival(of: sighting(3, startedAt: "14")))
        // Two addresses of one server, a former primary, and another cluster.
        for other in [sighting(3), sighting(2, startedAt: "14"), sighting(3, system: 8, startedAt: "14")] {
            #expect(!sighting(3).isRival(of: other))
        }
        let record = PrimaryRecord()
        #expect(throws: PostgresError.self) { try record.noteRival() }
        #expect(record.refusal == nil)
        record.noteSamples()
        try record.noteRival()
        #expect(record.refusal?.code == .twoPrimaries)
    }

    @Test func theLastPrimaryIsTriedFirst() {
        let record = PrimaryRecord()
        #expect(record.order(["a", "b", "c"]).map(\.server) == ["a", "b", "c"])
        record.note(place: 2)
        #expect(record.order(["a", "b", "c"]).map(\.server) == ["c", "a", "b"])
        #expect(record.order(["a", "b", "c"]).map(\.place) == [2, 0, 1])
    }

    @Test func answersAreReadWholeOrNotAtAll() {
        func read(_ texts: [String?]) -> PrimaryRecord.Sighting? { PrimaryRecord.Sighting(answer: .success(texts)) }
        #expect(read(["7", "0000001A", "12.5"]) == sighting(26))
        for texts in [["7"], ["7", nil], [nil, "00000001"], ["x", "00000001"], ["7", "x"], ["7", "1FFFFFFFF"]] {
            #expect(read(texts + ["12.5"]) == nil)
        }
        for texts in [[], ["7", "0000001A"], ["7", "0000001A", nil]] { #expect(read(texts) == nil) }
        #expect(PrimaryRecord.Sighting(answer: .failure(PostgresError(.server, ""))) == nil)
    }

    @Test func onlyAClientThatWritesToOneOfSeveralServersChooses() {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "a", port: 1)])
        configuration.targetSession = .primary
        #expect(!configuration.choosesPrimary)
        configuration.endpoints.append(.tcp(host: "b", port: 2))
        let choosing = PostgresConfiguration.TargetSession.allCases.filter { target in
            configuration.targetSession = target
            return configuration.choosesPrimary
        }
        #expect(choosing == [.readWrite, .primary])
    }
}
