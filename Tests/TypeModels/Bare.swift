// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The composite type `public.bare`.
public struct Bare: DatabaseComposite {
    /// Creates a value; what is left out is NULL.
    public init() {}

    /// A value whose fields are all NULL: what a property shows while its object has no value yet.
    public static var neutralValue: Bare { Bare() }

    /// Reads a value.
    public init(composite: PostgresComposite) throws {}

    /// The value, as the database takes it.
    public var composite: PostgresComposite {
        get throws {
            PostgresComposite(fields: [])
        }
    }
}
