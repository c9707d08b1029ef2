// The rules about tables that are written anew, and about statements and programs that fail.
extension MigrationRule {
    static let invalidFile = MigrationRule(
        "M001", "invalid-file", level: .error, summary: "The file cannot be run as it is.",
        remedy: "Write it so that `kindred migrate` runs it.")

    static let typeChange = MigrationRule(
        "M201", "type-change",
        summary:
            "Another type writes the whole table and its indexes anew, and lets nothing be read meanwhile; only few changes, "
            + "such as varchar to text, need no new rows.",
        remedy:
            "Add a column of the new type, fill it in batches while a trigger keeps it current, and let programs change over."
    )
    static let volatileDefault = MigrationRule(
        "M202", "volatile-default",
        summary:
            "A new column whose value differs from row to row writes the whole table anew, and lets nothing be read meanwhile.",
        remedy:
            "Add the column without it, set the default for new rows by ALTER COLUMN ... SET DEFAULT, and fill the others in "
            + "batches.")
    static let tableRewrite = MigrationRule(
        "M203", "table-rewrite",
        summary: "The whole table is written anew, and nothing can be read meanwhile.",
        remedy: "Run it while programs can wait, or use a tool such as pg_repack.")

    static let requiredColumn = MigrationRule(
        "M301", "required-column", level: .error,
        summary: "A new column that is NOT NULL and has no default fails where the table has rows.",
        remedy: "Give it a default, or add it without NOT NULL, fill it, and then make it NOT NULL.")

    static let dropColumn = MigrationRule(
        "M401", "drop-column",
        summary: "Programs that still name the column fail, and its values are gone.",
        remedy: "First bring out programs that do not name it. Then ignore this: -- kindred: ignore M401")
    static let dropTable = MigrationRule(
        "M402", "drop-table",
        summary: "Programs that still name it fail, and its rows are gone.",
        remedy: "First bring out programs that do not name it. Then ignore this: -- kindred: ignore M402")
    static let rename = MigrationRule(
        "M403", "rename",
        summary: "Programs that run have the old name, and fail.",
        remedy:
            "Make the new one beside the old one, or a view that has the old name, and remove that once no program uses it."
    )
    static let truncate = MigrationRule(
        "M404", "truncate",
        summary: "All rows are gone, with CASCADE those of other tables, too, and nothing can be read meanwhile.",
        remedy: "If that is meant, ignore this: -- kindred: ignore M404")
    static let dropNotNull = MigrationRule(
        "M405", "drop-not-null", level: .note,
        summary: "Programs that run may fail on NULL, such as those with generated classes.",
        remedy: "First bring out programs that know that the column may be NULL.")
}
