import KindredPostgres
import KindredSchema

/// The findings of ``Doctor`` in a database.
public struct DoctorReport: Sendable, Hashable {
    /// A rule that could not look at everything, and why.
    public struct Skip: Sendable, Hashable {
        /// The rule's number.
        public let rule: String
        /// The reason, and what to do about it.
        public let reason: String
    }

    /// All findings, sorted by rule, entity and object.
    public let findings: [DoctorFinding]
    /// The rules that could not look at everything, sorted.
    public let skipped: [Skip]
    /// How many findings are left out by comments or by the list of ignored findings.
    public let ignoredCount: Int
    /// How many findings about small tables are left out; see ``DoctorOptions/includesSmallTables``.
    public let smallTableCount: Int
    /// The server's version, such as 150004.
    package internal(set) var serverVersion = 0

    init(
        findings: [DoctorFinding], skipped: [Skip], ignoredCount: Int = 0, smallTableCount: Int = 0
    ) {
        self.findings = findings.sorted(by: Self.precedes)
        self.skipped = skipped.sorted { ($0.rule, $0.reason) < ($1.rule, $1.reason) }
        self.ignoredCount = ignoredCount
        self.smallTableCount = smallTableCount
    }

    /// The findings, the most important first: by level, then by rule, then by weight.
    public var ranked: [DoctorFinding] {
        findings.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            if a.level != b.level { return a.level > b.level }
            if a.rule != b.rule { return a.rule < b.rule }
            if a.weight != b.weight { return a.weight > b.weight }
            return left.offset < right.offset
        }.map(\.element)
    }

    /// Whether a finding matters as much as `level` or more.
    public func reaches(_ level: DoctorLevel) -> Bool {
        findings.contains { $0.level >= level }
    }

    /// The statements that repair everything that SQL can repair, each once: annotations that do not fit first, the
    /// other repairs in the order of ``ranked``.
    ///
    /// Each is to be run by itself: CREATE INDEX CONCURRENTLY refuses to run in a transaction. Each fits the database
    /// as it was read; only a trial on a copy tells whether they fit together; `kindred doctor --fix` makes one.
    public var repairs: [String] {
        var seen: Set<ServerText> = []
        return RepairPlan(self).groups.joined().flatMap(\.repair).filter { seen.insert($0) }
    }

    private static func precedes(_ left: DoctorFinding, _ right: DoctorFinding) -> Bool {
        if left.rule != right.rule { return left.rule < right.rule }
        let (a, b) = (left.entity ?? "", right.entity ?? "")
        if a != b { return a < b }
        let (c, d) = (left.object ?? "", right.object ?? "")
        if c != d { return c < d }
        return left.message < right.message
    }
}
