import HarmlessText
public import KindredDDL
import KindredPostgres

/// The differences between two schemas, and the statements that lead from one to the other.
///
/// ```swift
/// let differences = try await SchemaDifferences.between(
///     .database(configuration), .sql(script, name: "schema.sql"))
/// if !differences.isEmpty { print(differences.sql) }
/// ```
public struct SchemaDifferences: Sendable {
    /// The leave to drop things, and the way in which it is done.
    public struct Options: Sendable {
        /// Whether statements are planned that drop things, or that may change values.
        ///
        /// Things are tables, columns, types, sequences, views, functions, triggers, policies, rules, extensions, schemas and
        /// the like. Otherwise such statements are ``SchemaDifferences/withheld``.
        public var allowsDropping = false
        /// Whether indexes are built by CREATE INDEX CONCURRENTLY and constraints added as NOT VALID and then validated.
        ///
        /// Other sessions can write meanwhile; in exchange the change is several transactions. Without it, all
        /// statements are one transaction, except new labels of enums.
        public var isConcurrent = true
        /// Old and new names: `public.person=people` for a table, view, sequence or type, `public.person.name=surname`
        /// for a column, whose table may have its old name or its new one; in any order.
        public var renames: [String] = []
        /// Whether the statements are run on an embedded server, and the result is compared again.
        public var isProven = true
        /// Extensions that are made on the embedded server though it does not trust them, by its superuser, before all
        /// else; trusted extensions need not be named.
        ///
        /// Functions of a database may use an extension of this list on this machine, with all that it allows.
        public var extensions: [String] = []
        /// The longest time of a statement on the embedded server.
        public var statementLimit: Duration = .seconds(10)

        /// Creates the default options.
        public init() {}
    }

    /// Whether a trial has shown that the statements lead from one side to the other, except for things in ``leftOut``.
    public enum Proof: Sendable, Hashable {
        /// The statements ran on a copy of the old side, on an embedded server; by `pg_dump` nothing is left to change,
        /// and rows can be written in the tables that they touch.
        case proven
        /// No trial was made, for this reason.
        case skipped(String)
        /// The trial failed: the statement that fails, or the difference that is left.
        case failed(String)
    }

    /// The statements, in steps that run one after the other.
    public internal(set) var steps: [SchemaStep] = []
    /// Statements, as text, that would drop things or may lose values, and are not planned.
    public internal(set) var withheld: [String] = []
    /// Differences that the statements do not change, each in a line: publications, operator classes, languages and the
    /// like, changed collations and ranges, tablespaces and access methods.
    public internal(set) var unmanaged: [String] = []
    /// Remarks: possible renames, things in the way, the order of columns.
    public internal(set) var remarks: [String] = []
    /// Things that may stand in the way and could not be tried out.
    var untried: [String] = []
    /// Tables that the statements touch and in which no row could be tried: each with its obstacle, such as a
    /// constraint that does not take the values that were made up.
    public internal(set) var untriedTables: [String] = []
    /// Things that were compared by the catalogs alone and not tried out, each with the reason: things that only a
    /// superuser may make, extensions that are neither trusted nor in ``Options/extensions``, and everything that
    /// depends on these; statements of a script for which its role has no right, about whose things nothing is
    /// compared.
    public internal(set) var leftOut: [String] = []
    /// Statements that were stopped on the embedded server, since they took longer than ``Options/statementLimit``.
    public internal(set) var cut: [String] = []
    /// Whether the statements were tried out.
    public internal(set) var proof = Proof.skipped("there is nothing to do")
    /// Whether one side is an inspection's JSON: then ``unmanaged`` lists how entities, columns, keys and relationships
    /// differ, and there are no statements, since JSON holds no defaults, checks, indexes and definitions of views.
    public internal(set) var isOfModels = false

    /// Whether both sides are the same.
    public var isEmpty: Bool { steps.isEmpty && withheld.isEmpty && unmanaged.isEmpty }

    /// The whole change as a script for psql, with each statement's meaning above it.
    public var sql: String {
        var text = ""
        for (index, step) in steps.enumerated() {
            text += "-- Step \(index + 1) of \(steps.count): "
            text +=
                step.isTransaction ? "one transaction\nBEGIN;\nSET LOCAL lock_timeout = '5s';\n" : "no transaction\n"
            text += step.script
            text += step.isTransaction ? "\nCOMMIT;\n" : ""
            if index < steps.count - 1 { text += "\n" }
        }
        return text
    }
}

extension SchemaStep {
    /// The statements as a script, with each statement's meaning above it.
    package var script: String {
        statements.reduce("") { $0 + "\n-- \($1.remarks.harmless)\n\($1.sql);\n" }
    }
}
