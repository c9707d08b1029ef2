import KindredPostgres

/// A question about owners, whose answers their group and their objects keep: the members of a relationship or of a part of it,
/// their number, or columns that were left out.
protocol Question: Sendable {
    var core: ContextCore { get }
    /// The slot of its answers.
    var slot: Int { get }
    /// Whether elements of a group are asked for by their own keys, so that none needs an object to be known.
    var isFoundByKey: Bool { get }
    /// Answers for a group asked before this time are dropped: they lack changes that no entry of the log corrects.
    var lostAt: ContextTime { get }

    /// Answers for an owner asked before this time are stale.
    ///
    /// - Parameters:
    ///   - key: the key by which the owner is asked for.
    ///   - ownKey: the key of the owner's row.
    func staleSince(_ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime

    /// The key by which another element of the group is asked for; nil if there is nothing to ask.
    func candidate(_ element: FetchGroup.Element) throws -> ObjectKey?

    /// Asks for owners: one statement.
    func ask(_ owners: KeyNumbers) async throws -> Answer
}

extension Question {
    var lostAt: ContextTime { .never }
}

/// Asks a question for an owner, and for the owners of its group whose answers are missing or stale: one statement, once for any
/// number of tasks.
struct Asker<Q: Question> {
    private let question: Q
    private let group: FetchGroup?
    private let position: Int

    /// - Parameters:
    ///   - group: the rows that the owner was read with, and its position among them.
    ///   - minimum: the number of rows from which on a group is asked for together.
    init(_ question: Q, in group: FetchGroup?, at position: Int, minimum: Int = 1) {
        self.question = question
        self.position = position
        let isTogether = question.core.loading == .batch && group.map { $0.count >= minimum } ?? false
        self.group = isTogether ? group : nil
    }

    /// The answer for an owner, which is the latest: asked now, or not stale.
    func answer(for key: ObjectKey, ownKey: ObjectKey?) async throws -> Answer {
        guard let group else { return try await alone(key) }
        let lostAt = question.lostAt
        group.forget(question.slot, before: lostAt)
        var own: Answer?
        let answer = try await group.load(
            question.slot, key, staleSince: question.staleSince(key, ownKey: ownKey), from: position,
            in: question.core.client.transactionScope, isFoundByKey: question.isFoundByKey,
            candidate: question.candidate
        ) { element, key in
            question.staleSince(key, ownKey: element.key)
        } load: { owners in
            let answer = try await question.ask(owners)
            own = answer
            return answer
        }
        if own === answer { return answer }
        let isCurrent = max(question.staleSince(key, ownKey: ownKey), question.lostAt) <= answer.askedAt
        return isCurrent ? answer : try await alone(key)
    }

    private func alone(_ key: ObjectKey) async throws -> Answer { try await question.ask(KeyNumbers([key])) }
}
