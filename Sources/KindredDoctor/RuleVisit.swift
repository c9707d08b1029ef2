import HarmlessText
import KindredPostgres
import KindredSchema

/// One rule at work, with its findings and with what it could not look at.
struct RuleVisit {
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
    /// The names that repairs have given so far, those of the rules before this one included.
    var names: RepairNames

    init(rule: DoctorRule, examination: Examination, names: RepairNames = RepairNames()) {
        self.rule = rule
        self.examination = examination
        self.names = names
    }

    /// Notes a finding.
    ///
    /// - Parameters:
    ///   - relation: The table or view concerned.
    ///   - object: The name of what it is about, if that is not the table itself.
    ///   - subjects: What annotations may leave it out on, beside the table.
    ///   - repair: Makes the statements; none are given where it throws, for a name that cannot be quoted.
    mutating func report(
        _ relation: DoctorCatalog.Relation?, object: String? = nil, subjects: [CatalogObject] = [],
        level: DoctorLevel? = nil, _ message: String, facts: [(String, String)] = [], weight: Double = 0,
        repair: () throws -> [String] = { [] }
    ) {
        var subjects = subjects
        if let relation { subjects.append(.relation(relation.oid)) }
        let statements = try? examination.keepingComment(try repair(), of: object, on: relation)
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
