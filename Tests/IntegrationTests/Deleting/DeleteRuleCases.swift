import Kindred

/// One case of the table of delete rules: two tables, or three, of its own, and the expected outcome for their rows.
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

    enum Shape: CaseIterable {
        /// A table that refers to another by one column.
        case plain
        /// The key has a tenant's column too, which is required and shared with the table's own key.
        case composite
        /// The table refers to itself; many-to-many, both ends are of one table.
        case selfReference
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
    let shape: Shape
    let side: Side
    let action: Action
    /// The rule that an annotation or an override gives; nil leaves it to the foreign key.
    let rule: DeleteRule?
    let isInCode: Bool
    let isRequired: Bool
    let isUnique: Bool

    var parent: String { "p\(number)" }
    var child: String { shape == .selfReference ? parent : "c\(number)" }
    var helper: String { "h\(number)" }

    var description: String {
        "\(number): \(shape) \(side) \(action.rawValue) \(rule.map { "\($0)" } ?? "-")"
            + "\(isInCode ? " in code" : "")\(isRequired ? " required" : "")\(isUnique ? " unique" : "")"
    }

    static let all: [DeleteRuleCase] = {
        var cases: [DeleteRuleCase] = []
        // Of the other shapes every third has to do where time counts; they differ little, and the model test has them too.
        var others = 0
        let rules: [DeleteRule?] = [nil] + DeleteRule.allCases
        for (shape, side) in Shape.allCases.flatMap({ shape in Side.allCases.map { (shape, $0) } }) {
            for action in Action.allCases where side != .helper || action != .setNull {
                for rule in rules {
                    for isInCode in [false, true] where rule != nil || !isInCode {
                        for isRequired in [false, true] where side != .helper || !isRequired {
                            for isUnique in [false, true] where side != .helper || !isUnique {
                                let one = DeleteRuleCase(
                                    number: cases.count, shape: shape, side: side, action: action, rule: rule,
                                    isInCode: isInCode, isRequired: isRequired, isUnique: isUnique)
                                guard one.isWorthATable else { continue }
                                if shape != .plain { others += 1 }
                                if shape == .plain || LongTests.areOn || others % 3 == 1 { cases.append(one) }
                            }
                        }
                    }
                }
            }
        }
        return cases
    }()

    /// Where a rule comes from does not depend on the key's shape, and a root that must refer to itself leaves no room for
    /// a unique key.
    private var isWorthATable: Bool {
        shape == .plain || !isInCode && (shape == .composite || !isUnique)
    }

    /// The rule that counts.
    var effectiveRule: DeleteRule {
        if let rule { return rule }
        // The helper has no payload.
        if side == .helper { return action == .restrict ? .deny : .nullify }
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
        // The deleted row is at the other end of the table's own key too.
        if shape == .selfReference { return false }
        return switch (side, effectiveRule) {
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

    var constraint: String { "f\(number)" }

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

    /// Parent 1 has children 11 and, unless the key is unique, 12, parent 2 has 13; in the many-to-many cases both parents
    /// share partner 12.
    var sql: String {
        let isSelf = shape == .selfReference
        let isComposite = shape == .composite
        let tenant = isComposite ? "tenant integer NOT NULL DEFAULT 1, " : ""
        let key = isComposite ? "PRIMARY KEY (tenant, id)" : "PRIMARY KEY (id)"
        let target = isComposite ? " (tenant, id)" : ""
        func reference(_ column: String, _ table: String) -> String {
            let columns = isComposite ? "tenant, \(column)" : column
            return "FOREIGN KEY (\(columns)) REFERENCES \(table)\(target)"
        }
        // With a list of columns the tenant stays.
        let action = isComposite && self.action == .setNull ? "SET NULL (parent_id)" : self.action.rawValue
        let own = "parent_id integer\(isRequired ? " NOT NULL" : "")"
        let unique = isUnique ? ", UNIQUE (\(isComposite ? "tenant, " : "")parent_id)" : ""
        let holder = "\(own), \(tenant)\(key)\(unique), CONSTRAINT \(constraint) \(reference("parent_id", parent)) "
        var sql = ""
        switch (side, isSelf) {
        case (.helper, _):
            sql += "CREATE TABLE \(parent) (id integer, \(tenant)\(key));\n"
            if !isSelf { sql += "CREATE TABLE \(child) (id integer, \(tenant)\(key));\n" }
            let pair = isComposite ? "PRIMARY KEY (tenant, a, b)" : "PRIMARY KEY (a, b)"
            sql += """
                CREATE TABLE \(helper) (a integer, b integer, \(tenant)\(pair),
                    CONSTRAINT \(constraint) \(reference("a", parent)) ON DELETE \(action), \(reference("b", child)));
                INSERT INTO \(parent) (id) VALUES (1), (2);
                INSERT INTO \(child) (id) VALUES (11), (12), (13);
                INSERT INTO \(helper) (a, b) VALUES (1, 11), (1, 12), (2, 12), (2, 13);

                """
        case (_, true):
            let root = isRequired ? "id" : "NULL"
            sql += """
                CREATE TABLE \(parent) (id integer, \(holder) ON DELETE \(action));
                INSERT INTO \(parent) (id, parent_id) SELECT id, \(root) FROM generate_series(1, 2) AS id;

                """
        case (_, false):
            sql += """
                CREATE TABLE \(parent) (id integer, \(tenant)\(key));
                CREATE TABLE \(child) (id integer, \(holder) ON DELETE \(action));
                INSERT INTO \(parent) (id) VALUES (1), (2);

                """
        }
        if side != .helper {
            sql += "INSERT INTO \(child) (id, parent_id) VALUES (11, 1), (13, 2)\(isUnique ? "" : ", (12, 1)");\n"
        }
        if let rule, !isInCode {
            let table = side == .helper ? helper : child
            sql += "COMMENT ON CONSTRAINT \(constraint) ON \(table) IS '@kindred {\"\(member)\": \"\(rule)\"}';\n"
        }
        return sql
    }
}
