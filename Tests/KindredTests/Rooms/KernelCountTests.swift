import Testing

/// The doors, notes, times and comparisons of the object layer, each by name; `KernelCount` has the rules of counting.
///
/// `KernelLists` has them all. A change that adds a door, say, adds its line there, and a change that takes a door away takes
/// the line away too, so that each change shows how much more or less a maintainer has to know. A failure names the lines.
@Suite struct KernelCountTests {
    private static let count = KernelCount(RoomRulesTests.layerFiles)
    private static let core = ContextCoreCount(RoomRulesTests.layerFiles)

    /// The lines that a list lacks, with a plus, and the lines that it has in vain, with a minus.
    private static func differences(_ found: [String], from list: String) -> String {
        let listed = list.split(separator: "\n").map(String.init).sorted()
        var lines: [String] = []
        for change in found.sorted().difference(from: listed) {
            switch change {
            case .insert(_, let line, _): lines.append("+ \(line)")
            case .remove(_, let line, _): lines.append("- \(line)")
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test func figuresArePrinted() {
        let (count, core) = (Self.count, Self.core)
        print(
            """
            Doors \(count.doors.count), functions that note \(count.notes.count), stored times \(count.times.count), \
            files that decide validity \(count.decidingFiles.count); ContextCore: \(core.stored) stored, \
            \(core.members) members, \(core.visibleMembers) of them for other files, \(core.locks) locks and atomics; \
            \(core.publicTypes.count) public types
            """)
        #expect(!count.doors.isEmpty && !count.notes.isEmpty && !count.times.isEmpty && core.stored > 10)
    }

    @Test func rowsComeInByTheListedDoors() {
        let differences = Self.differences(Self.count.doors, from: KernelLists.doors)
        #expect(differences.isEmpty, "\(Self.count.doors.count) doors:\n\(differences)")
    }

    @Test func theListedFunctionsNote() {
        let differences = Self.differences(Self.count.notes, from: KernelLists.notes)
        #expect(differences.isEmpty, "\(Self.count.notes.count) functions note:\n\(differences)")
    }

    @Test func theListedTimesAreStored() {
        let differences = Self.differences(Self.count.times, from: KernelLists.times)
        #expect(differences.isEmpty, "\(Self.count.times.count) times are stored:\n\(differences)")
    }

    @Test func theListedFilesCompareTimes() {
        let differences = Self.differences(Self.count.decidingFiles, from: KernelLists.decidingFiles)
        #expect(differences.isEmpty, "\(Self.count.decidingFiles.count) files decide validity:\n\(differences)")
    }

    @Test func aContextsCoreDoesNotGrow() {
        #expect(Self.core.stored <= 24)
        #expect(Self.core.members <= 191)
        #expect(Self.core.locks <= 13)
    }

    @Test func publicTypesBecomeNoMore() {
        #expect(Self.core.publicTypes.count <= 73, "\(Self.core.publicTypes)")
    }
}
