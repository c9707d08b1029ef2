import HarmlessText
import KindredPostgres

/// A statement of a migration file that a rule of ``MigrationLint`` found.
public struct MigrationFinding: Sendable, Hashable {
    /// The rule.
    public let rule: MigrationRule
    /// The file's name.
    public let file: String
    /// The line, counted from 1.
    public let line: Int
    /// The table or other relation concerned, as the file names it; nil where the rule concerns none.
    public let entity: String?
    /// The column, constraint or index concerned; nil where it is the entity itself.
    public let object: String?
    /// One sentence.
    public let message: String

    init(
        rule: MigrationRule, file: String, line: Int, entity: String? = nil, object: String? = nil, message: String
    ) {
        self.rule = rule
        self.file = file
        self.line = line
        self.entity = entity?.harmless
        self.object = object?.harmless
        self.message = message.harmless
    }

    /// The key that leaves out the rule's findings in this file: `M101:0007_index.sql`.
    public var ignoreKey: String { "\(rule.id):\(file)" }
}
