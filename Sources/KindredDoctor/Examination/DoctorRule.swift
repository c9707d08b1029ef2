import KindredPostgres
import KindredSchema

/// A rule of ``Doctor``: the problem that it finds, and why it is a problem.
///
/// Numbers and names are stable: K1 is about indexes, K2 about relationships, K3 about keys and names, K4 about safety,
/// K5 about the needs of Kindred itself.
public struct DoctorRule: Sendable {
    /// The number, such as `K101`.
    public let id: String
    /// The name, such as `unindexed-foreign-key`.
    public let name: String
    /// How much its findings matter.
    public let level: DoctorLevel
    /// Its subject in one sentence.
    public let summary: String
    /// The reason why that matters, the exact conditions, and the effect of the repair.
    public let explanation: String
    /// Whether it is about the speed of statements alone, so that it says nothing of small tables unless asked to.
    public let isAboutSize: Bool
    let check: @Sendable (inout RuleRun) -> Void

    init(
        _ id: String, _ name: String, _ level: DoctorLevel, isAboutSize: Bool = false, _ summary: String,
        explanation: String, check: @escaping @Sendable (inout RuleRun) -> Void
    ) {
        self.id = id
        self.name = name
        self.level = level
        self.isAboutSize = isAboutSize
        self.summary = summary
        self.explanation = explanation
        self.check = check
    }
}
