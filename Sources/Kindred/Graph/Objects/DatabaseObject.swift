package import KindredPostgres
public import KindredSchema
import Synchronization

/// A row of the database as an object: its attributes by key, its relationships followed and changed at once.
///
/// There is one object per row and context. Attributes that are loaded are read without I/O from any task;
/// whatever writes is `async` and has happened in the database when the call returns.
///
/// ```swift
/// person["firstname"]                                     // a loaded attribute
/// try await person.setValue("Ann", forKey: "firstname")   // UPDATE person SET firstname = … WHERE id = … RETURNING …
/// let emails = try await person.set(forKey: "emailSet")   // a set that writes through
/// ```
//
// Sendable is unchecked only because the class is open: every stored property is immutable or inside a Mutex.
open class DatabaseObject: @unchecked Sendable {
    /// What the object's context knows, whether the program holds the context or not.
    let core: ContextCore
    package let runtime: EntityRuntime
    private let state: Mutex<ObjectState>
    /// Where the context's table of objects has it; changed under that table's lock only.
    private let place = Atomic<Int32>(-1)

    /// Made by a context from a row; subclasses inherit this initializer and have no other.
    public required init(_ seed: __shared ObjectSeed) {
        // Shared: it is taken apart, and who makes one need not own what is in it.
        core = seed.core
        runtime = seed.runtime
        state = Mutex(
            ObjectState(row: seed.row, group: seed.group, position: seed.position, staging: seed.staging))
    }

    /// Made as an object without a class of its own: what it is made of is handed on, where a seed would be copied.
    init(plain core: ContextCore, _ runtime: EntityRuntime, _ row: Row, _ group: LoadGroup?, _ position: Int32) {
        self.core = core
        self.runtime = runtime
        state = Mutex(ObjectState(row: row, group: group, position: position))
    }

    /// Not asked for any more: an override of ``prepareForDeletion()`` is found by itself.
    ///
    /// It is here so that classes whose files have it go on compiling.
    @available(*, deprecated, message: "remove it: an override of prepareForDeletion() is found by itself")
    open class var preparesForDeletion: Bool { self != DatabaseObject.self }

    /// The result of the ``prepareForDeletion()`` that does nothing; overrides have no result, which tells them from it.
    public typealias NotOverridden = Void?

    /// Called once for each object that is about to be deleted, cascaded ones included; override it to act on that.
    ///
    /// ```swift
    /// override func prepareForDeletion() async throws { try await context.delete(album) }
    /// ```
    ///
    /// It runs inside the deletion's transaction, before anything is written. `isDeleted` is true already for every
    /// object that is on its way out, and relationships can still be followed. It may delete more objects, which then
    /// go in the same deletion. What it throws stops the deletion; nothing is written then. Where no class overrides it
    /// and the database carries out all delete rules by itself, deleting an object is a single DELETE.
    @discardableResult
    open func prepareForDeletion() async throws -> NotOverridden { nil }

    /// Called after the object was made from a row; override it to set up what the object keeps beside its attributes.
    ///
    /// Once in the life of an object, not when its row is read again. Runs without any lock of the library.
    open func awakeFromFetch() {}

    /// Called after the object was made as a new one, before it gets the values that it is made with; override it to
    /// stage defaults.
    ///
    /// Properties that have no value yet show the neutral one of their type.
    open func awakeFromInsert() {}

    /// Called before what is staged on the object is validated and saved; override it to stage more.
    ///
    /// Once in each save, whatever is staged, also for objects that others stage changes on in their `willSave`.
    open func willSave() {}

    /// Called to check the object before it is saved; override it and throw what is wrong.
    ///
    /// Only if the object has every value that its entity requires: what is missing is reported without asking here. What
    /// the database decides when a new row is stored, such as an identity, shows its neutral value still.
    ///
    /// What it throws stops the save, and is reported together with all other problems of the save.
    open func validate() throws {}

    deinit {
        // What was read with the row may hold it, and what its relationships lead to, as they were before.
        let (left, isStaged) = state.withLock { (LeftObject(runtime, $0), $0.stagingBox != nil) }
        if let left { core.leave(left) }
        // A search for the object after this does not find it any more, but the row that it has left.
        let place = tablePlace
        if place >= 0 { core.references.remove(runtime.index, at: place) }
        if isStaged { core.tellLoss(of: "the first of \(runtime.name)") }
    }

    /// The context that the object belongs to.
    ///
    /// Objects do not keep it: where the program holds it no more, this is a new one with the same objects, which has to be
    /// held as long as something is staged in it that the program does not hold itself.
    public var context: DatabaseContext { core.context }

    /// The entity that the object's row belongs to.
    public var entity: Entity { runtime.entity }

    /// The row's identity, equal across contexts; nil where the entity has no key, and for a new object that was
    /// given up.
    public var objectID: ObjectID? {
        key.map { ObjectID(runtime, $0) }
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

    /// The row as last seen, with staged values.
    package var row: Row {
        withState { $0.row }
    }

    /// The row as last seen in the database.
    package var storedRow: Row {
        withState { $0.storedRow }
    }

    /// The identity key's values in the database, or the temporary key of a new object; nil where the entity has no key.
    package var key: ObjectKey? {
        withState { $0.key(runtime) }
    }

    package func withState<T>(_ body: (inout ObjectState) throws -> T) rethrows -> T {
        try state.withLock { try body(&$0) }
    }
}

/// What a context hands to an object's initializer.
public struct ObjectSeed: Sendable {
    let core: ContextCore
    let runtime: EntityRuntime
    let row: Row
    /// The rows that this one was read with, and its place among them.
    var group: LoadGroup?
    var position: Int32 = 0
    /// What is staged on a new object; nil for one that stands for a stored row.
    var staging: StagingBox?
}

extension DatabaseObject: TableObject {
    /// Where the context's table of objects has it.
    var tablePlace: Int32 {
        get { place.load(ordering: .relaxed) }
        set { place.store(newValue, ordering: .relaxed) }
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
    /// Shows the object as being on its way out.
    func markDeleting() {
        context.journal?.record(self)
        withState { if $0.status == .persistent { $0.status = .deleting } }
    }
}
