import KindredPostgres

/// The fate of a part of a model that is not in the database just as it is in the model.
public struct ModelReport: Sendable, Hashable, CustomStringConvertible {
    /// How much of it there is.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// It is left out.
        case omitted
        /// It is there, with a difference.
        case changed
        /// It says nothing to a database, such as Xcode's drawing or the names of classes.
        case ignored
    }

    /// How much of it there is.
    public let level: Level
    /// The part: `Item.unit`, or `Item` for an entity, or the name of an element or attribute of the file.
    public let subject: String
    /// The part's fate and the reason, as one sentence without its full stop.
    public let reason: String

    /// One line: `omitted: Item.picture: it is transient, so it is not stored`.
    public var description: String { "\(level.rawValue): \(subject): \(reason)" }

    init(_ level: Level, _ subject: String, _ reason: String) {
        self.level = level
        self.subject = subject
        self.reason = reason
    }
}
