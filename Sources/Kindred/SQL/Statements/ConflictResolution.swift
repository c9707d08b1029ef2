/// What happens to a new row whose values for a unique key another row has already.
///
/// ```swift
/// try await context.create("product", ["code": "A1", "stock": 5], onConflict: .update("code"))
/// ```
public struct ConflictResolution: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case update(setting: [String]?)
        case keep
    }

    let key: [String]
    let action: Action

    /// The row that has the key already takes over the new values, all but those of the key and of the primary key.
    ///
    /// The attributes have to be a primary key, or what a UNIQUE constraint or index covers.
    public static func update(_ key: String...) -> ConflictResolution {
        ConflictResolution(key: key, action: .update(setting: nil))
    }

    /// The row that has the key already takes over some of the new values, given by attribute.
    public static func update(_ key: String..., setting attributes: [String]) -> ConflictResolution {
        ConflictResolution(key: key, action: .update(setting: attributes))
    }

    /// The row that has the key already stays as it is, and its object is returned.
    public static func keep(_ key: String...) -> ConflictResolution {
        ConflictResolution(key: key, action: .keep)
    }
}
