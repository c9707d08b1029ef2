import HarmlessText
import KindredPostgres

extension KindredError {
    /// One reason that an object cannot be saved.
    public struct Problem: Sendable {
        /// The kind of problem.
        public let code: KindredError.Code
        /// One sentence with the problem and the remedy; without row values.
        public let message: String
        /// The object concerned; nil if the server's error does not identify it among several.
        public let object: DatabaseObject?
        /// The entity concerned, such as `public.person`.
        public let entity: String
        /// The attribute or relationship concerned; nil for the object as a whole.
        public let key: String?
        /// The violated constraint, if the server refused the object.
        public let constraint: String?
        /// The error thrown by the program's own validation.
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
}

extension KindredError.Problem {
    /// Whether a required value is missing.
    var isMissing: Bool { code == .missingValue || code == .requiredRelationship }
}

extension KindredError.Problem: CustomStringConvertible {
    /// The message; safe to log.
    public var description: String { message }
}

extension KindredError {
    /// The object that cannot be saved; the first of several.
    public var object: DatabaseObject? { problems.lazy.compactMap(\.object).first }

    /// The error for problems: a single one unchanged, or several combined.
    init?(_ problems: [KindredError.Problem]) {
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
