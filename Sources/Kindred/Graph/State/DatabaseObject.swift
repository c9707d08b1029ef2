package import KindredPostgres
public import KindredSchema
import Synchronization

/// A row of the database as an object, with attributes by key and relationships to follow and change.
///
/// There is one object per row and context. Any task reads loaded attributes without I/O. Whatever writes is `async`,
/// and has happened in the database when the call returns.
///
/// ```swift
/// person["firstname"]                                     // a loaded attribute
/// try await person.setValue("Ann", forKey: "firstname")   // UPDATE person SET firstname = … WHERE id = … RETURNING …
/// let emails = try await person.set(forKey: "emailSet")   // a set that writes through
/// ```
//
// Sendable is unchecked only because the class is open: every stored property is immutable or inside a Mutex.
open class DatabaseObject: @unchecked Sendable {
    /// The state of the object's context, whether the program holds the context or not.
    package let core: ContextCore
    package let runtime: EntityRuntime
    private let state: RankedMutex<ObjectState>
    /// The object's place in the context's object table; changed under that table's lock only.
    private let place = Atomic<Int32>(-1)
    /// The object's place among the context's staged changes; changed under their lock only.
    private let stagingPlace = Atomic<Int32>(-1)

    /// Creates an object from a row, for a context; subclasses inherit this initializer and have no other.
    public required init(_ seed: __shared ObjectSeed) {
        // `__shared`: the initializer takes the seed apart, so that the caller need not give up ownership.
        core = seed.core
        runtime = seed.runtime
        state = RankedMutex(
            ObjectState(row: seed.row, group: seed.group, position: seed.position, staging: seed.staging), .objectState)
    }

    /// Creates an object without a class of its own; separate arguments, because a seed would be copied.
    init(plain core: ContextCore, _ runtime: EntityRuntime, _ row: Row, in group: FetchGroup?, at position: Int32) {
        self.core = core
        self.runtime = runtime
        state = RankedMutex(ObjectState(row: row, group: group, position: position), .objectState)
    }

    /// The result of the ``prepareForDeletion()`` that does nothing; overrides have no result, which distinguishes
    /// them.
    public typealias NotOverridden = Void?

    /// Called once for each object that is about to be deleted, also by cascade; override it to act on that.
    ///
    /// ```swift
    /// override func prepareForDeletion() async throws { try await context.delete(album) }
    /// ```
    ///
    /// It runs inside the deletion's transaction, before anything is written. `isDeleted` is already true for every
    /// object of the deletion, and relationships can still be followed. It may delete more objects, which join the same
    /// deletion. An error stops the deletion; nothing is written then. Where no class overrides it and the database
    /// carries out all delete rules, deleting an object is a single DELETE.
    @discardableResult
    open func prepareForDeletion() async throws -> NotOverridden { nil }

    /// Called after the object was made from a row; override it to set up properties beside its attributes.
    ///
    /// Called once in an object's life, not when its row is read again. Runs without any lock of the library.
    open func awakeFromFetch() {}

    /// Called on a new object, before it gets its initial values; override it to stage defaults.
    ///
    /// Properties without a value show the neutral value of their type.
    open func awakeFromInsert() {}

    /// Called before the object's staged changes are validated and saved; override it to stage more.
    ///
    /// Called once in each save, also if another object's `willSave` staged the change.
    open func willSave() {}

    /// Called to check the object before it is saved; override it and throw a ``ValidationError``.
    ///
    /// Called only if the object has every value that its entity requires; missing values are reported without the
    /// call. Values that the database assigns on INSERT, such as an identity, still show their neutral value.
    ///
    /// An error stops the save, and is reported together with all other problems of the save.
    open func validate() throws {}

    deinit {
        let place = tablePlace
        if place >= 0 { core.references.remove(runtime.index, at: place) }
    }

    /// The entity that the object's row belongs to.
    public var entity: Entity { runtime.entity }

    /// The row's identity, equal across contexts; nil if the entity has no key, and for a new object that was discarded.
    public var objectID: ObjectID? {
        key.map { ObjectID(runtime, $0, in: core.tenantSchema?.name) }
    }

    /// Whether the object's row has been deleted, or is about to be while ``prepareForDeletion()`` runs.
    ///
    /// Such an object keeps its last values and refuses writes.
    public var isDeleted: Bool {
        withState { $0.status == .deleted || $0.status == .deleting }
    }

    /// Whether the object is new and not stored yet.
    public var isInserted: Bool {
        withState { $0.status == .inserted }
    }

    /// Whether the row is known to be gone, not just being deleted.
    var isGone: Bool { withState { $0.status == .deleted } }

    /// Whether the row has to be read again before it is used.
    package var isStale: Bool { withState { $0.isStale } }

    /// The row as last seen, with staged values.
    package var row: Row {
        withState { $0.row }
    }

    /// The row as last seen in the database.
    package var storedRow: Row {
        withState { $0.storedRow }
    }

    /// The identity key's stored values, or a new object's temporary key; nil if the entity has no key.
    package var key: ObjectKey? {
        withState { $0.key(runtime) }
    }

    package func withState<T>(_ body: (inout ObjectState) throws -> T) rethrows -> T {
        try state.withLock { try body(&$0) }
    }
}

/// A reference to an object that does not hold it.
struct WeakObject: Sendable {
    weak var object: DatabaseObject?
}

/// The arguments of an object's initializer.
public struct ObjectSeed: Sendable {
    let core: ContextCore
    let runtime: EntityRuntime
    let row: Row
    /// The rows that the object's row was read with, and its position among them.
    var group: FetchGroup?
    var position: Int32 = 0
    /// The staged changes of a new object; nil for a stored row.
    var staging: StagingBox?
}

extension DatabaseObject: TableObject {
    /// The object's place in the context's object table.
    var tablePlace: Int32 {
        get { place.load(ordering: .relaxed) }
        set { place.store(newValue, ordering: .relaxed) }
    }
}

extension DatabaseObject {
    /// The object's place among the context's staged changes; nil if nothing is staged.
    var stagedPlace: Int? {
        get {
            let place = stagingPlace.load(ordering: .relaxed)
            return place < 0 ? nil : Int(place)
        }
        set { stagingPlace.store(newValue.map { Int32(clamping: $0) } ?? -1, ordering: .relaxed) }
    }
}

extension DatabaseObject: Hashable {
    /// Two objects are equal if they are the same object; a context has one per row.
    public static func == (left: DatabaseObject, right: DatabaseObject) -> Bool {
        left === right
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension DatabaseObject: CustomStringConvertible {
    /// The object's identity, without its values: safe to log.
    public var description: String {
        objectID?.uri ?? "\(runtime.name) \(runtime.key.isEmpty ? "without a key" : "that was never stored")"
    }
}

extension DatabaseObject {
    /// Marks the object as being deleted.
    func markDeleting() {
        core.journal?.record(self)
        withState { if $0.status == .persistent { $0.status = .deleting } }
    }
}
