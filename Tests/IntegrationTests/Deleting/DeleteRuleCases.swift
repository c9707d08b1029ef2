import Kindred

/// One case of the table of delete rules: two tables, or three, of its own, and what has to become of their rows.
struct DeleteRuleCase: Sendable, CustomStringConvertible {
    enum Side: CaseIterable {
        /// The referenced row is deleted.
        case referenced
        /// The row that holds the foreign key is deleted.
        case holder
        /// An end of a many-to-many relationship is deleted.
        case helper
    }

    enum Action: String, CaseIterable {
        case noAction = "NO ACTION"
        case restrict = "RESTRICT"
        case cascade = "CASCADE"
        case setNull = "SET NULL"
    }

    enum Outcome: Equatable {
        case denied
        case required
        case refused
        /// The deleted row is gone; the others are gone, or have lost it, or are as they were.
        case cascaded
        case nullified
        case kept
    }

    let number: Int
    let side: Side
    let action: Action
    /// The rule that an annotation or an override gives; nil leaves it to the foreign key.
    let rule: DeleteRule?
    let isInCode: Bool
    let isRequired: Bool
    let isUnique: Bool

    var parent: String { "p\(number)" }
    var child: String { "c\(number)" }
    var helper: String { "h\(number)" }

    var description: String {
        "\(number): \(side) \(action.rawValue) \(rule.map { "\($0)" } ?? "-")"
            + "\(isInCode ? " in code" : "")\(isRequired ? " required" : "")\(isUnique ? " unique" : "")"
    }

    static let all: [DeleteRuleCase] = {
        var cases: [DeleteRuleCase] = []
        let rules: [DeleteRule?] = [nil] + DeleteRule.allCases
        for side in Side.allCases {
            for action in Action.allCases where side != .helper || action != .setNull {
                for rule in rules {
                    for isInCode in [false, true] where rule != nil || !isInCode {
                        for isRequired in [false, true] where side != .helper || !isRequired {
                            for isUnique in [false, true] where side != .helper || !isUnique {
                                cases.append(
                                    DeleteRuleCase(
                                        number: cases.count, side: side, action: action, rule: rule,
                                        isInCode: isInCode, isRequired: isRequired, isUnique: isUnique))
                            }
                        }
                    }
                }
            }
        }
        return cases
    }()

    /// The rule that counts.
    var effectiveRule: DeleteRule {
        if let rule { return rule }
        guard side == .referenced else { return .nullify }
        return switch action {
        case .noAction: .noAction
        case .restrict: .deny
        case .cascade: .cascade
        case .setNull: .nullify
        }
    }

    var expected: Outcome {
        switch (side, effectiveRule) {
        case (_, .deny): .denied
        case (.referenced, .cascade), (.helper, .cascade): .cascaded
        case (.referenced, .nullify): isRequired ? .required : .nullified
        case (.referenced, .noAction):
            switch action {
            case .noAction, .restrict: .denied
            case .cascade: .cascaded
            case .setNull: isRequired ? .refused : .nullified
            }
        case (.holder, .nullify), (.holder, .noAction): .kept
        case (.holder, .cascade):
            // The other rows that refer to the same one have their say, by the foreign key's rule.
            isUnique || action == .cascade
                ? .cascaded
                : action == .setNull ? (isRequired ? .required : .cascaded) : .denied
        case (.helper, .nullify): .kept
        case (.helper, .noAction): action == .cascade ? .kept : .denied
        }
    }

    /// Whether the database does everything that the rule asks for, so that there is one statement.
    var isOneStatement: Bool {
        switch (side, effectiveRule) {
        // The helper's own relationship has the rule deny where its key is RESTRICT.
        case (.helper, .noAction): action != .restrict
        case (_, .noAction), (.holder, .nullify): true
        case (.referenced, .cascade), (.helper, .nullify): action == .cascade
        case (.referenced, .nullify): action == .setNull && !isRequired
        default: false
        }
    }

    private var member: String {
        switch side {
        case .referenced: "deleteRule"
        case .holder: "toOneDeleteRule"
        case .helper: "manyToManyDeleteRule"
        }
    }

    private var constraint: String { "f\(number)" }

    var override: SchemaOverride? {
        guard isInCode else { return nil }
        return .foreignKey(
            constraint,
            of: side == .helper ? helper : child,
            deleteRule: side == .referenced ? rule : nil,
            toOneDeleteRule: side == .holder ? rule : nil,
            manyToManyDeleteRule: side == .helper ? rule : nil
        )
    }

    /// Parent 1 has one or two children, parent 2 has one; in the many-to-many cases both parents share a partner.
    var sql: String {
        var sql = "CREATE TABLE \(parent) (id integer PRIMARY KEY);\nINSERT INTO \(parent) VALUES (1), (2);\n"
        let clause = "CONSTRAINT \(constraint) REFERENCES \(parent) ON DELETE \(action.rawValue)"
        if side == .helper {
            sql += """
                CREATE TABLE \(child) (id integer PRIMARY KEY);
                INSERT INTO \(child) VALUES (1), (2), (3);
                CREATE TABLE \(helper) (a integer \(clause), b integer REFERENCES \(child), PRIMARY KEY (a, b));
                INSERT INTO \(helper) VALUES (1, 1), (1, 2), (2, 2), (2, 3);

                """
        } else {
            sql += """
                CREATE TABLE \(child) (id integer PRIMARY KEY,
                    parent_id integer \(isRequired ? "NOT NULL" : "") \(isUnique ? "UNIQUE" : "") \(clause));
                INSERT INTO \(child) VALUES (1, 1), (3, 2)\(isUnique ? "" : ", (2, 1)");

                """
        }
        if let rule, !isInCode {
            let table = side == .helper ? helper : child
            sql += "COMMENT ON CONSTRAINT \(constraint) ON \(table) IS '@kindred {\"\(member)\": \"\(rule)\"}';\n"
        }
        return sql
    }
}
