import KindredSchema

extension DoctorRule {
    /// K1: indexes.
    static let indexRules: [DoctorRule] = [
        DoctorRule(
            "K101", "unindexed-foreign-key", .warning, isAboutSize: true,
            "A foreign key whose rows no index finds.",
            explanation: """
                PostgreSQL makes no index for a foreign key. Without one, deleting a row of the referenced table (or changing \
                its key) reads the whole table that refers to it, and so does every to-many relationship.

                An index counts where it is valid; its first key columns are the foreign key's, all of them and in any order; \
                it is a b-tree, a hash, a GiST or an SP-GiST index whose operator class and collation find equal values; and \
                it is not partial, or only by conditions that follow from the key not being NULL. INCLUDE columns do not \
                count. A unique index over some of the key's columns and no others counts, and so does one whose first \
                columns refer to a unique key by themselves. Of a partitioned table every partition needs one.

                The findings with most rows, most deletions of what they refer to, and most that Kindred itself will ask come \
                first. The repair makes one index for keys that begin alike; run it outside a transaction.
                """,
            check: UnindexedForeignKeys.check),
        DoctorRule(
            "K102", "duplicate-index", .warning, isAboutSize: true,
            "An index that another one repeats.",
            explanation: """
                Two indexes with the same columns, operator classes, orders and condition cost twice on every write and give \
                nothing. The one to be dropped belongs to no constraint that something needs, or is not unique beside one that \
                is.
                """,
            check: RedundantIndexes.checkDuplicates),
        DoctorRule(
            "K103", "prefix-index", .note, isAboutSize: true,
            "An index whose columns another one begins with.",
            explanation: """
                What an index on (a) finds, one on (a, b) finds, too. The shorter one is smaller, and may be worth keeping \
                where it is read very often; everywhere else it only costs on writes.
                """,
            check: RedundantIndexes.checkPrefixes),
        DoctorRule(
            "K104", "unused-index", .note, isAboutSize: true,
            "An index that was never used since statistics began.",
            explanation: """
                It costs on every write. Unique indexes and the only index of a foreign key are left out: they are needed \
                even if no query reads them. Look at replicas, which have statistics of their own, before you drop one. Nothing is \
                said in the first seven days of statistics.
                """,
            check: RedundantIndexes.checkUnused),
        DoctorRule(
            "K105", "invalid-index", .error,
            "An index that is not complete, so that no query uses it.",
            explanation: """
                CREATE INDEX CONCURRENTLY or REINDEX CONCURRENTLY failed or was interrupted, or the index of a partitioned table \
                lacks the index of a partition. It costs on every write and finds nothing; a unique one may not even be \
                unique. One that is being built at this moment is invalid, too.
                """,
            check: InvalidIndexes.check),
    ]
}
