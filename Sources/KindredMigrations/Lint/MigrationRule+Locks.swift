// The rules about locks and waiting.
extension MigrationRule {
    static let ownFile = "in a file of its own with the line -- kindred: no transaction"

    static let indexNotConcurrent = MigrationRule(
        "M101", "index-not-concurrent",
        summary: "CREATE INDEX lets nothing be written to its table while it reads all of it.",
        remedy:
            "Write CREATE INDEX CONCURRENTLY, \(ownFile). On a partitioned table, CREATE INDEX ON ONLY it, then concurrently on "
            + "each partition, and ALTER INDEX ... ATTACH PARTITION.")
    static let dropIndexNotConcurrent = MigrationRule(
        "M102", "drop-index-not-concurrent",
        summary: "DROP INDEX waits for all statements on the index's table, and all later ones wait for it.",
        remedy: "Write DROP INDEX CONCURRENTLY, \(ownFile).")
    static let reindexNotConcurrent = MigrationRule(
        "M103", "reindex-not-concurrent",
        summary:
            "REINDEX lets nothing be written to the table while it reads all of it, and nothing read by the index.",
        remedy: "Write REINDEX ... CONCURRENTLY, \(ownFile).")
    static let notInTransaction = MigrationRule(
        "M104", "not-in-transaction", level: .error,
        summary: "The server refuses the statement in a transaction, and a file is one.",
        remedy: "Write it \(ownFile).")
    static let foreignKeyNotValid = MigrationRule(
        "M105", "foreign-key-validated",
        summary: "A new foreign key lets nothing be written to both tables while every row is compared.",
        remedy:
            "Add it NOT VALID, and write ALTER TABLE ... VALIDATE CONSTRAINT in a later file: that lets rows be written."
    )
    static let checkNotValid = MigrationRule(
        "M106", "check-validated",
        summary: "A new CHECK lets nothing be read or written while every row is looked at.",
        remedy:
            "Add it NOT VALID, as a constraint of the table, and write ALTER TABLE ... VALIDATE CONSTRAINT in a later file: "
            + "that lets rows be read and written.")
    static let uniqueWithoutIndex = MigrationRule(
        "M107", "unique-without-index",
        summary: "A new UNIQUE or PRIMARY KEY lets nothing be read or written while its index is made.",
        remedy:
            "Make the index by CREATE UNIQUE INDEX CONCURRENTLY, \(ownFile); then ADD CONSTRAINT ... UNIQUE USING INDEX."
    )
    static let exclusionConstraint = MigrationRule(
        "M108", "exclusion-constraint",
        summary: "A new EXCLUDE lets nothing be read or written while its index is made, and has no other form.",
        remedy: "Add it while programs can wait, or with the table.")
    static let setNotNull = MigrationRule(
        "M109", "set-not-null",
        summary: "SET NOT NULL lets nothing be read or written while every row is looked at.",
        remedy:
            "Add CHECK (column IS NOT NULL) NOT VALID, VALIDATE it in a later file, and write SET NOT NULL after that: "
            + "PostgreSQL then reads no row.")
    static let validatedUnderLock = MigrationRule(
        "M110", "validated-under-lock",
        summary:
            "VALIDATE CONSTRAINT reads every row while the transaction still holds the lock that an earlier statement took.",
        remedy: "Write VALIDATE CONSTRAINT in a later file.")
    static let workUnderLock = MigrationRule(
        "M111", "work-under-lock",
        summary: "Rows are changed or read while the transaction keeps all others from reading a table.",
        remedy: "Write what changes the tables and what changes their rows in files of their own.")
    static let attachPartition = MigrationRule(
        "M112", "attach-partition", level: .note,
        summary: "ATTACH PARTITION reads every row of the partition, which nothing can read meanwhile.",
        remedy: "First give the partition a valid CHECK with the same bounds: then no row is read.")
    static let detachNotConcurrent = MigrationRule(
        "M113", "detach-not-concurrent",
        summary: "DETACH PARTITION waits for all statements on the whole table, and all later ones wait for it.",
        remedy: "Write DETACH PARTITION ... CONCURRENTLY, \(ownFile).")
    static let refreshNotConcurrent = MigrationRule(
        "M114", "refresh-not-concurrent",
        summary: "REFRESH MATERIALIZED VIEW lets nothing be read from the view while its query runs.",
        remedy: "Write REFRESH MATERIALIZED VIEW CONCURRENTLY, for which the view needs a unique index.")

    static let noLockTimeout = MigrationRule(
        "M501", "no-lock-timeout", level: .note,
        summary:
            "A statement that waits for a lock makes all later ones on the table wait, too, for as long as that takes.",
        remedy: "Begin the file with SET lock_timeout = '5s', so that it fails instead and can be run again.")
    static let severalLocks = MigrationRule(
        "M502", "several-locks", level: .note,
        summary:
            "The transaction keeps the lock on one table while it waits for another, which takes longer and can end in a deadlock.",
        remedy: "Change one table in a file.")
}
