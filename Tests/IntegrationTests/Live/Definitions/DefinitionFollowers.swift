import KindredTesting
import Synchronization
import Testing

@testable import Kindred
@testable import KindredLive

final class DefinitionThing: DatabaseObject, @unchecked Sendable {}

extension DefinitionThing: TypedObject {
    static let mapping = EntityMapping(
        schema: "public",
        name: "thing",
        [
            .attribute(\DefinitionThing.id, "id", "integer"),
            .attribute(\DefinitionThing.label, "label", "text"),
            .attribute(\DefinitionThing.size, "size", "integer"),
        ]
    )

    var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    var label: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    var size: Int {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }
}

/// What a follower has been told so far.
final class FollowerNote: Sendable {
    struct State: Sendable {
        /// The rows of a list.
        var rows: [String] = []
        var updates = 0
        /// The keys that a sequence has named, and the gaps.
        var keys: Set<String> = []
        var gaps: [Tracking.Gap] = []
        var error: (any Error)?
        var hasEnded = false
    }

    private let state = Mutex(State())

    var now: State { state.withLock { $0 } }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
}

/// Follows the table `thing` in each way that the library has, each in a task that takes what it is told.
final class DefinitionFollowers: Sendable {
    let database: Database
    let isTyped: Bool
    let notes: [FollowerKind: FollowerNote]
    private let tasks: [Task<Void, Never>]
    private let objects: [DatabaseObject]

    init(_ database: Database, isTyped: Bool, form: DefinitionForm) async throws {
        (self.database, self.isTyped) = (database, isTyped)
        let context = database.makeContext()
        var notes: [FollowerKind: FollowerNote] = [:]
        var tasks: [Task<Void, Never>] = []
        func follow(_ kind: FollowerKind, _ body: @escaping @Sendable (FollowerNote) async throws -> Void) {
            let note = FollowerNote()
            notes[kind] = note
            tasks.append(
                Task {
                    do {
                        try await body(note)
                        note.change { $0.hasEnded = true }
                    } catch {
                        note.change { $0.error = error }
                    }
                })
        }
        func followList<Object>(_ kind: FollowerKind, _ request: LiveRequest<Object>, _ columns: [String]) {
            follow(kind) { note in
                for try await update in request {
                    let rows = update.objects.map { Self.text($0, columns) }
                    note.change { state in
                        state.rows = rows
                        state.updates += 1
                    }
                }
            }
        }
        let owner = try #require(try await context.find("owner", 1))
        if isTyped {
            let things = try context.fetch(DefinitionThing.self).where("size < %@", 100).sorted("id")
            followList(.list, try await things.live(), form.shows)
        } else {
            let things = try context.fetch("thing").where("size < %@", 100).sorted("id")
            followList(.list, try await things.live(), form.shows)
        }
        followList(.set, try await owner.set(forKey: "thingSet").sorted("id").live(), ["other"])
        followList(.view, try await context.fetch("shown").sorted("id").live(), form.viewShows)
        let changes = try await isTyped ? context.changes(of: DefinitionThing.self) : context.changes(of: "thing")
        follow(.sequence) { note in for try await element in changes { note.take(element) } }
        let batches = try await context.changes(of: ["thing"], consumer: "consumer \(isTyped)")
        follow(.consumer) { note in
            for try await batch in batches {
                note.change { state in
                    state.keys.formUnion(batch.changes.keys)
                    if let reason = batch.reason { state.gaps.append(reason) }
                }
                try await batch.acknowledge()
            }
        }
        let tracking = database.makeContext(tracking: .automatic)
        objects = try await tracking.fetch("thing").sorted("id").all()
        (self.notes, self.tasks) = (notes, tasks)
        for kind in [FollowerKind.list, .set, .view] {
            try await eventually("no first update of the \(kind)") { notes[kind]?.now.updates == 1 }
        }
    }

    func end() { for task in tasks { task.cancel() } }

    /// An object's key, and its first column among some that there is.
    private static func text(_ object: DatabaseObject, _ columns: [String]) -> String {
        let row = object.row
        func value(_ name: String) -> PostgresValue?? {
            object.runtime.attributeIndex(of: name).map { row.valueOrRaw(at: $0) }
        }
        let found = columns.lazy.compactMap { value($0) }.first ?? .some(.string("?"))
        return "\(value("id")??.description ?? "-") \(found?.description ?? "-")"
    }

    /// What the context shows of its objects: `other`, and whether they are deleted.
    private var objectTexts: [String] {
        objects.map { $0.isDeleted ? "deleted" : Self.text($0, ["other"]) }
    }

    // MARK: Expectations

    /// Has everything arrive; returns the error of a context that follows no longer.
    func catchUp() async throws -> KindredError? {
        do {
            try await database.tracking.catchUp()
            return nil
        } catch let error as KindredError where [.schemaChanged, .classMismatch].contains(error.code) {
            return error
        }
    }

    /// Waits until a follower has gone on, or ended as it should; says what is wrong.
    func expect(
        _ outcome: DefinitionForm.Outcome, of kind: FollowerKind, _ what: String,
        _ isRight: (FollowerNote.State) -> Bool
    ) async throws {
        guard let note = notes[kind] else { return }
        let name = "\(isTyped ? "typed " : "")\(kind) \(what)"
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let state = note.now
            switch outcome {
            case .goesOn where state.error == nil && !state.hasEnded:
                if isRight(state) { return }
            case .goesOn:
                Issue.record("\(name) has ended: \(state.error.map { "\($0)" } ?? "without an error")")
                return
            case .ends(let words):
                guard let error = state.error else { break }
                let found = error as? KindredError
                let codes: [KindredError.Code] = [.schemaChanged, .classMismatch]
                #expect(found.map { codes.contains($0.code) } == true, "\(name) ended with \(error)")
                #expect(found?.message.contains(words) == true, "\(name) ended with \(error)")
                return
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(name) is \(note.now), \(outcome) was expected")
    }

    /// Waits until the context shows what SQL says, or follows no longer.
    func expectContext(_ outcome: DefinitionForm.Outcome, _ other: PostgresClient) async throws {
        let name = "\(isTyped ? "typed " : "")context"
        let error = try await catchUp()
        if case .ends(let words) = outcome {
            #expect(error?.message.contains(words) == true, "\(name): \(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(error == nil, "\(name)")
        var expected: [String] = []
        for object in objects {
            let id = object.number ?? 0
            let found = try await other.query("SELECT other FROM thing WHERE id = \(id)")
            expected.append(found.isEmpty ? "deleted" : "\(id) \(try found[0].decode(0, as: String.self) ?? "-")")
        }
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end, objectTexts != expected {
            _ = try await catchUp()
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(objectTexts == expected, "\(name)")
    }
}

extension FollowerNote {
    fileprivate func take(_ element: ChangeSequence.Element) {
        change { state in
            switch element {
            case .changes(let changes): state.keys.formUnion(changes.keys)
            case .everything(let reason, _, _): state.gaps.append(reason)
            }
        }
    }
}

extension ChangeBatch {
    fileprivate var keys: Set<String> {
        Set(inserted.union(updated.keys).union(deleted).map { $0.values.map(\.description).joined(separator: ",") })
    }
}
