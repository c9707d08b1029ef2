// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Job: KeyedObject {
    /// The class of the objects.
    public typealias Target = Job
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.job`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "job",
        [
            .attribute(\Job.id, "id", "integer"),
            .attribute(\Job.kind, "kind", "text"),
            .attribute(\Job.input, "input", "json"),
            .attribute(\Job.runAt, "run_at", "timestamp with time zone", name: "runAt"),
            .attribute(\Job.attempts, "attempts", "integer"),
            .attribute(\Job.problem, "problem", "text"),
        ]
    )
}

extension Job {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case kind
        case input
        case runAt
        case attempts
        case problem
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        readProperty(PropertyNumber.id.rawValue)
    }

    /// The column `kind`; empty while a new object has no value.
    public var kind: String {
        get { readProperty(PropertyNumber.kind.rawValue) }
        set { writeProperty(PropertyNumber.kind.rawValue, newValue) }
    }

    /// The column `input`; `null` while a new object has no value.
    public var input: PostgresJSON {
        get { readProperty(PropertyNumber.input.rawValue) }
        set { writeProperty(PropertyNumber.input.rawValue, newValue) }
    }

    /// The column `run_at`; 1970-01-01 while a new object has no value.
    public var runAt: PostgresTimestamp {
        get { readProperty(PropertyNumber.runAt.rawValue) }
        set { writeProperty(PropertyNumber.runAt.rawValue, newValue) }
    }

    /// The column `attempts`; 0 while a new object has no value.
    public var attempts: Int {
        get { readProperty(PropertyNumber.attempts.rawValue) }
        set { writeProperty(PropertyNumber.attempts.rawValue, newValue) }
    }

    /// The column `problem`.
    public var problem: String? {
        get { readProperty(PropertyNumber.problem.rawValue) }
        set { writeProperty(PropertyNumber.problem.rawValue, newValue) }
    }
}

extension Job {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        kind: String,
        input: PostgresJSON? = nil,
        runAt: PostgresTimestamp? = nil,
        attempts: Int? = nil,
        problem: String? = nil
    ) -> NewValues<Job> {
        var values = NewValues<Job>()
        values.setProperty(PropertyNumber.kind.rawValue, kind)
        values.setProperty(PropertyNumber.input.rawValue, input)
        values.setProperty(PropertyNumber.runAt.rawValue, runAt)
        values.setProperty(PropertyNumber.attempts.rawValue, attempts)
        values.setProperty(PropertyNumber.problem.rawValue, problem)
        return values
    }
}

extension TypedObject where Self: Job {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var runAt: Date {
        get { Date() }
        set {}
    }
}
