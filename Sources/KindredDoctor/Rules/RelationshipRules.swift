import KindredSchema

extension DoctorRule {
    /// K20x and K21x: foreign keys, helper tables, and the names that relationships get.
    static let relationshipRules: [DoctorRule] = [
        DoctorRule(
            "K201", "duplicate-foreign-key", .warning,
            "A foreign key that repeats another's columns and target.",
            explanation: """
                Every write is checked twice, and what a deletion does depends on which of the two says more. Kindred takes \
                them for one relationship. The one that is kept is the one whose action prevails; it takes over what annotations say of \
                the other one.
                """,
            check: DuplicateForeignKeys.check),
        DoctorRule(
            "K202", "foreign-key-types-differ", .warning,
            "A foreign key whose column has another type or collation than what it refers to.",
            explanation: """
                An integer column that refers to a bigint one fails at two thousand million; texts of two collations need not \
                be equal where their key says so. The repair changes the referring column's type, which locks and may rewrite \
                the table. There is none where a view, a policy, a trigger or another column rests on the type, or where the column \
                comes from another table. varchar and text are the same in this respect.
                """,
            check: ForeignKeyRules.checkTypes),
        DoctorRule(
            "K203", "unvalidated-foreign-key", .warning,
            "A foreign key that was not checked for the rows that were there before it.",
            explanation: """
                A NOT VALID key holds for new rows only, so that a to-one relationship may lead nowhere and the planner cannot \
                rely on it. The repair checks all rows and fails if one leads nowhere; it locks out no reader and no writer.
                """,
            check: ForeignKeyRules.checkValidity),
        DoctorRule(
            "K204", "unenforced-foreign-key", .warning,
            "A foreign key that the database does not enforce.",
            explanation: """
                A NOT ENFORCED key is a remark: rows may lead nowhere and its actions do not happen. The repair checks all \
                rows and fails if one leads nowhere.
                """,
            check: ForeignKeyRules.checkEnforcement),
        DoctorRule(
            "K205", "foreign-key-to-alternate-key", .note,
            "A foreign key that refers to a unique key beside the primary key.",
            explanation: """
                Kindred finds objects by their primary key without a statement where they are in memory; a relationship by \
                another key has to ask. Keys that contain the primary key, such as (tenant, id), are left out.
                """,
            check: ForeignKeyRules.checkTargets),
        DoctorRule(
            "K206", "contested-name", .note,
            "A name that several relationships of an entity claim by the same rule, which cannot tell whose it is.",
            explanation: """
                Two foreign keys between the same tables both suggest the other table's name. One of the two may get it by its \
                column; otherwise both go by longer names, and no third relationship gets it either. Code that used the short \
                name while there was one key no longer finds it, or finds the other one. The repair writes the names of today into \
                annotations, so that they are chosen and not left over; write better ones.
                """,
            check: NameRules.checkContested),
        DoctorRule(
            "K207", "generated-name-only", .warning,
            "A relationship that can be reached by its generated name alone.",
            explanation: """
                All names that the constraint, the tables and the columns suggest are taken. The repair proposes a name in an \
                annotation; write a better one.
                """,
            check: NameRules.checkGenerated),
        DoctorRule(
            "K208", "ambiguous-helper", .warning,
            "A table of which more than one pair of foreign keys could make a many-to-many relationship.",
            explanation: """
                No pair is taken. The repair says so in an annotation; put the names of two keys in the place of false to \
                choose a pair.
                """,
            check: NameRules.checkHelpers),
        DoctorRule(
            "K209", "helper-without-key", .warning,
            "A table of two foreign keys whose pairs nothing keeps unique.",
            explanation: """
                A helper table is recognized by its key: the columns of both foreign keys together, by a primary key, a UNIQUE \
                constraint or a unique index, and none of them NULL. Without it the same pair can be there twice, and there is no \
                many-to-many relationship. The repair makes the columns NOT NULL and the index, which keeps no writer waiting; it fails if a \
                pair has NULL or is there twice already, which the query under "rows in the way" shows. A table with a numbered key beside the two may as well be one of things that refer to others, so that it \
                is a note: where both keys may be NULL or none, refer to different tables, and nothing refers to the table.
                """,
            check: ForeignKeyRules.checkHelperKeys),
        DoctorRule(
            "K210", "column-without-foreign-key", .note,
            "A column that is named after a table's key and has no foreign key.",
            explanation: """
                A column such as person_id beside a table person of the same key type makes no relationship without a foreign \
                key, and may refer to what is not there. The repair adds an index where there is none, then the key without \
                locking for long, then checks the rows. Left out are columns named after their own table, tables that others \
                inherit from, whose children a foreign key does not find, unlogged tables, to which no other table can refer, and tables of old versions, which outlive what they \
                refer to.
                """,
            check: ForeignKeyRules.checkMissing),
        DoctorRule(
            "K211", "partition-foreign-key", .note,
            "A foreign key that stands on partitions and not on their table.",
            explanation: """
                It makes no relationship. Where every partition has it, the partitioned table can have it instead; the repair \
                adds it there, and PostgreSQL takes in those of the partitions.
                """,
            check: ForeignKeyRules.checkPartitions),
    ]

    /// K22x: the actions of foreign keys.
    static let actionRules: [DoctorRule] = [
        DoctorRule(
            "K221", "insert-cycle", .error,
            "Required foreign keys in a cycle, so that no first row can be stored.",
            explanation: """
                Each table needs a row of the next one, and none of the keys may be checked later. Kindred closes such cycles \
                through a key that may be NULL, or one that is deferrable. The repair makes as few keys deferrable as it takes.
                """,
            check: ActionRules.checkCycles),
        DoctorRule(
            "K222", "set-null-on-not-null", .error,
            "A foreign key whose action sets a required column to NULL.",
            explanation: """
                The deletion it is made for always fails. The repair lets the column be NULL; where the column is part of the \
                primary key it names the columns that can be NULL, or says NO ACTION, which is what happens today.
                """,
            check: ActionRules.checkSetNull),
        DoctorRule(
            "K223", "far-cascade", .note,
            "A deletion that reaches very many tables or rows by ON DELETE CASCADE.",
            explanation: """
                One DELETE locks and removes rows of more than ten tables, or of tables with more than a million rows \
                together. Ask `context.deletionPlan(for:)` before such a deletion, and see that each step has an index (K101).
                """,
            check: ActionRules.checkCascades),
    ]
}
