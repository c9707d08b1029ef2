import HarmlessText

/// One reason for which an object cannot be saved.
public struct ValidationProblem: Sendable {
    /// What is wrong.
    public let code: KindredError.Code
    /// One sentence that says what is wrong and what to do; without row values.
    public let message: String
    /// The object concerned; nil where the server's answer does not tell which of several it was.
    public let object: DatabaseObject?
    /// The entity concerned, such as `public.person`.
    public let entity: String
    /// The attribute or relationship concerned; nil for the object as a whole.
    public let key: String?
    /// The constraint that refused the object, if it was the server.
    public let constraint: String?
    /// What a validation of the program itself threw.
    public let error: (any Error)?

    init(
        _ code: KindredError.Code,
        _ message: String,
        object: DatabaseObject?,
        entity: String,
        key: String? = nil,
        constraint: String? = nil,
        error: (any Error)? = nil
    ) {
        self.code = code
        self.message = message.harmless
        self.object = object
        self.entity = entity
        self.key = key
        self.constraint = constraint
        self.error = error
    }
}

extension ValidationProblem {
    /// Whether something is missing that the entity requires.
    var isMissing: Bool { code == .missingValue || code == .requiredRelationship }
}

extension ValidationProblem: CustomStringConvertible {
    /// The sentence; safe to log.
    public var description: String { message }
}

extension KindredError {
    /// The object that cannot be saved; the first one where there are several.
    public var object: DatabaseObject? { problems.lazy.compactMap(\.object).first }

    /// The error that reports problems: the one as it is, or several together.
    init?(_ problems: [ValidationProblem]) {
        guard let first = problems.first else { return nil }
        if problems.count == 1 {
            self.init(
                first.code,
                first.message,
                entity: first.entity,
                key: first.key,
                constraint: first.constraint,
                problems: problems
            )
            return
        }
        let some = problems.prefix(5).map(\.message).joined(separator: "; ")
        let more = problems.count > 5 ? "; and \(problems.count - 5) more" : ""
        self.init(
            .validationFailed,
            "\(problems.count) problems keep the objects from being saved: \(some)\(more)",
            entity: first.entity,
            key: first.key,
            problems: problems
        )
    }
}
