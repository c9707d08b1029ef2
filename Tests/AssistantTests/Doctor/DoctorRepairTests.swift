import KindredDoctor
import KindredTesting
import TestSupport
import Testing

/// The doctor's findings in two real schemas, and the remaining findings when its SQL was run.
@Suite struct DoctorRepairTests {
    @Test(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand"), .database(.sql(Chinook.sql ?? "")))
    func chinooksFindingsAreTrueAndGoAway() async throws {
        try await expectFindings([
            "K103:public.playlist_track.playlist_track_playlist_id_idx"
        ])
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func theDemosFindingsAreTrueAndGoAway() async throws {
        try await expectFindings([
            "K101:public.category.parent__children", "K101:public.person_title_rel.people",
            "K206:public.person.friendshipSet", "K304:public.bestseller", "K502:public.book_author.authors",
        ])
    }

    /// Expects the findings, and that each one's repair makes it and no other one go away; what the server's version or
    /// state decides is left out.
    private func expectFindings(_ keys: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await withDoctorClient { client in
            let report = try await client.allFindings()
            #expect(report.keys == keys, sourceLocation: sourceLocation)
            var rest = report.keys
            for finding in report.findings where !finding.repair.isEmpty {
                try await client.repair(finding)
                let after = try await client.allFindings()
                #expect(!after.keys.contains(finding.ignoreKey), "\(finding)", sourceLocation: sourceLocation)
                rest.removeAll { !after.keys.contains($0) }
                #expect(after.keys == rest, "after \(finding.repair)", sourceLocation: sourceLocation)
            }
            #expect(rest == report.findings.filter { $0.repair.isEmpty }.map(\.ignoreKey))
        }
    }
}
