import HarmlessText
import KindredPostgres
import KindredSchema

/// One rule at work, with its findings and with the parts that it could not look at.
struct RuleRun {
    struct Found {
        var finding: DoctorFinding
        /// The objects whose annotations may leave the finding out.
        var subjects: [CatalogObject]
        /// How many rows the table concerned has.
        var rows: Int
    }

    let rule: DoctorRule
    let examination: Examination
    private(set) var found: [Found] = []
    private(set) var skipped: [DoctorReport.Skip] = []
    /// The names that the repairs of this rule and of the rules before it give.
    private(set) var newNames: Set<QualifiedName>

    init(rule: DoctorRule, examination: Examination, newNames: Set<QualifiedName> = []) {
        self.rule = rule
        self.examination = examination
        self.newNames = newNames
    }

    /// A name of at most 63 bytes for an index or a constraint that a repair makes, which nothing else has or gets.
    ///
    /// - Parameter parts: The parts behind the table's name, such as the columns and `idx`.
    mutating func newName(on relation: DoctorCatalog.Relation, _ parts: [String]) -> String {
        let name = RepairText.made(of: [relation.name] + parts) { name in
            examination.isTaken(name, on: relation)
                || newNames.contains(QualifiedName(schema: relation.schema, name: name))
        }
        newNames.insert(QualifiedName(schema: relation.schema, name: name))
        return name
    }

    /// Notes a finding.
    ///
    /// - Parameters:
    ///   - relation: The table or view concerned.
    ///   - object: The name of the object that it is about, if that is not the table itself.
    ///   - subjects: The objects whose annotations may leave the finding out, beside the table.
    ///   - repair: Makes the statements; if it throws, for a name that cannot be quoted, the finding has none.
    mutating func report(
        _ relation: DoctorCatalog.Relation?, object: String? = nil, subjects: [CatalogObject] = [],
        level: DoctorLevel? = nil, _ message: String, facts: [(String, String)] = [], weight: Double = 0,
        repair: () throws -> [String] = { [] }
    ) {
        var subjects = subjects
        if let relation { subjects.append(.relation(relation.oid)) }
        let statements = try? repair()
        found.append(
            Found(
                finding: DoctorFinding(
                    rule: rule.id, name: rule.name, level: level ?? rule.level,
                    entity: relation?.qualifiedName.description, object: object, message: message.harmless,
                    facts: facts.map { DoctorFinding.Fact($0.0, $0.1) }, repair: statements ?? [],
                    weight: weight),
                subjects: subjects, rows: relation.map { examination.rows(of: $0.oid) } ?? .max))
    }

    /// Notes that the rule could not look at everything.
    mutating func skip(_ reason: String) {
        skipped.append(.init(rule: rule.id, reason: reason))
    }
}
