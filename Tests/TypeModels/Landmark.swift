// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The composite type `public.landmark`.
public struct Landmark: DatabaseComposite {
    /// The field `name`.
    public var name: String?
    /// The field `stars`.
    public var stars: Int?

    /// Creates a value; what is left out is NULL.
    public init(name: String? = nil, stars: Int? = nil) {
        self.name = name
        self.stars = stars
    }

    /// A value whose fields are all NULL: what a property shows while its object has no value yet.
    public static var neutralValue: Landmark { Landmark() }

    /// Reads a value.
    public init(composite: PostgresComposite) throws {
        name = try composite.decode("name")
        stars = try composite.decode("stars")
    }

    /// The value, as the database takes it.
    public var composite: PostgresComposite {
        get throws {
            PostgresComposite(fields: [
                try PostgresComposite.Field("name", name),
                try PostgresComposite.Field("stars", stars),
            ])
        }
    }
}
