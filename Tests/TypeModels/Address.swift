// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

/// The composite type `public.address`.
public struct Address: DatabaseComposite {
    /// The field `street`.
    public var street: String?
    /// The field `number`.
    public var number: Int?
    /// The field `code`.
    public var code: String?
    /// The field `tags`.
    public var tags: [String?]?
    /// The field `mood`.
    public var mood: Mood?
    /// The field `nearest`.
    public var nearest: Landmark?
    /// The field `class`.
    public var `class`: Bool?
    /// The field `self`.
    public var selfValue: UUID?

    /// Creates a value; what is left out is NULL.
    public init(
        street: String? = nil,
        number: Int? = nil,
        code: String? = nil,
        tags: [String?]? = nil,
        mood: Mood? = nil,
        nearest: Landmark? = nil,
        `class`: Bool? = nil,
        selfValue: UUID? = nil
    ) {
        self.street = street
        self.number = number
        self.code = code
        self.tags = tags
        self.mood = mood
        self.nearest = nearest
        self.class = `class`
        self.selfValue = selfValue
    }

    /// A value whose fields are all NULL: what a property shows while its object has no value yet.
    public static var neutralValue: Address { Address() }

    /// Reads a value.
    public init(composite: PostgresComposite) throws {
        street = try composite.decode("street")
        number = try composite.decode("number")
        code = try composite.decode("code")
        tags = try composite.decodeArray("tags")
        mood = try composite.decode("mood")
        nearest = try composite.decode("nearest")
        `class` = try composite.decode("class")
        selfValue = try composite.decode("self")
    }

    /// The value, as the database takes it.
    public var composite: PostgresComposite {
        get throws {
            PostgresComposite(fields: [
                try PostgresComposite.Field("street", street),
                try PostgresComposite.Field("number", number),
                try PostgresComposite.Field("code", code),
                try PostgresComposite.Field("tags", tags),
                try PostgresComposite.Field("mood", mood),
                try PostgresComposite.Field("nearest", nearest),
                try PostgresComposite.Field("class", `class`),
                try PostgresComposite.Field("self", selfValue),
            ])
        }
    }
}
