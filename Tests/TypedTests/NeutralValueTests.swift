import ChinookModels
import DemoModels
import Kindred
import KindredTesting
import Synchronization
import TestSupport
import Testing
import TypeModels

/// Properties of objects without values never trap, in any state of the object and for any reader.
@Suite struct NeutralValueTests {
    @Test(.database(.file("../../sql/demo.sql"))) func everyPropertyOfTheDemoClassesCanBeReadAndSet() async throws {
        try await check(DemoModels.KindredModels.all)
    }

    @Test(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand"), .database(.sql(Chinook.sql ?? "")))
    func everyPropertyOfTheChinookClassesCanBeReadAndSet() async throws {
        try await check(ChinookModels.KindredModels.all)
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func everyPropertyOfTheTypeClassesCanBeReadAndSet() async throws
    {
        try await check(TypeModels.KindredModels.all) { database in
            for statement: SQL in [
                "INSERT INTO club VALUES (1, 'Club')",
                """
                INSERT INTO keeper (id, code, rank, size, visible, numbers, club_id) VALUES (1, 'one', 1, 1, true, '{1}', 1)
                """,
                "INSERT INTO \"Größe\" (\"名前\") VALUES ('n')", "INSERT INTO house (size_id) VALUES (1)",
                "INSERT INTO pet VALUES (1, 'Rex', 3, 1)", "INSERT INTO badge VALUES (1, 'b', 1)",
                "INSERT INTO membership VALUES (1, 1)", "INSERT INTO visit VALUES (1, now())",
            ] { try await database.query(statement) }
        }
    }

    private func check(
        _ classes: [any TypedObject.Type], _ prepare: (Database) async throws -> Void = { _ in }
    ) async throws {
        try await withDatabase(classes: classes) { database, _ in
            try await prepare(database)
            let calls = HookCalls()
            for type in classes { try calls.readEverything(in: database, of: type) }
            for type in classes {
                try await checkNew(type, database, calls)
                try await checkStored(type, database, calls)
            }
        }
    }

    /// New objects: as they are made, saved without values and with neutral ones, given up, and undone.
    private func checkNew(_ type: any TypedObject.Type, _ database: Database, _ calls: HookCalls) async throws {
        let context = database.makeContext()
        guard !isReadOnly(type, context) else { return }
        let new = try context.add("\(type.mapping.entity)")
        #expect(calls.take("awakeFromInsert", type) == 1)
        for (name, value) in new.properties {
            #expect(isNeutral(value), "\(type).\(name) is \(String(describing: value)) of a new object")
        }
        for attribute in new.entity.attributes where new["\(attribute.name)"] == nil {
            #expect(try await new.value(forKey: attribute.name) == nil, "\(type).\(attribute.name)")
        }
        // Missing values are reported, and the program's own check is not asked. A view's triggers may fill missing
        // values.
        func lacksValues() -> Bool {
            new.entity.kind != .view
                && new.entity.attributes.contains {
                    $0.isNotNull && !$0.hasDefault && !$0.isGenerated && new[$0.name] == nil
                }
        }
        if lacksValues() {
            await #expect(throws: KindredError.self, "\(type)") { try await context.save() }
            #expect(calls.take("willSave", type) == 1 && calls.take("validate", type) == 0, "\(type)")
        }
        // With neutral values it is; whether the database takes them is another matter.
        new.setEverything()
        struct Undo: Error {}
        try? await context.transaction {
            try await context.save()
            _ = new.properties
            throw Undo()
        }
        // A column that is read as text, such as a point, takes no empty one.
        let isAsked = calls.take("validate", type) == 1
        #expect(calls.take("willSave", type) == 1 && isAsked == !lacksValues(), "\(type)")
        #expect(new.isInserted && new.properties.count == type.mapping.properties.count)
        new.rollback()
        _ = new.properties
        #expect(new.isDeleted)
        new.setEverything()
        _ = new.properties
        context.rollback()
        let deleted = try context.add("\(type.mapping.entity)")
        try context.stageDeletion(of: deleted)
        for (name, value) in deleted.properties { #expect(isNeutral(value), "\(type).\(name) of one given up") }
    }

    /// Stored objects: as they are read, with NULL staged everywhere, in the hooks of a deletion and after it.
    private func checkStored(_ type: any TypedObject.Type, _ database: Database, _ calls: HookCalls) async throws {
        let context = database.makeContext()
        let found = try await context.fetch("\(type.mapping.entity)").limit(1).all()
        guard let stored = found.first else { return }
        #expect(calls.take("awakeFromFetch", type) >= 1)
        _ = stored.properties
        guard !isReadOnly(type, context) else { return }
        for attribute in stored.entity.attributes { stored[attribute.name] = nil }
        _ = stored.properties
        stored.setEverything()
        context.rollback()
        struct Undo: Error {}
        try? await context.transaction {
            // Where the database refuses, the hooks have run by then.
            try await context.delete(stored)
            _ = stored.properties
            throw Undo()
        }
        #expect(calls.take("prepareForDeletion", type) >= 1, "\(type)")
        _ = try? await database.makeContext().query("DELETE FROM \(identifier: type.mapping.entity.name)")
        try? await stored.refresh()
        _ = stored.properties
        stored.setEverything()
        _ = stored.properties
    }

    private func isReadOnly(_ type: any TypedObject.Type, _ context: DatabaseContext) -> Bool {
        context.schema[type.mapping.entity]?.isReadOnly ?? true
    }

    private func isNeutral(_ value: Any) -> Bool {
        func isNeutral<Value: NeutralValue & Equatable>(_ value: Value) -> Bool { value == Value.neutralValue }
        // Relationships, and values that may be NULL.
        guard let value = value as? any NeutralValue & Equatable else {
            let mirror = Mirror(reflecting: value)
            return value is any CustomStringConvertible || mirror.displayStyle != .optional || mirror.children.isEmpty
        }
        return isNeutral(value)
    }
}

/// How often each hook of each class was called; each call reads and describes everything.
private final class HookCalls: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func readEverything(in database: Database, of type: any TypedObject.Type) throws {
        let name = "\(type.mapping.entity)"
        func note(_ hook: String) -> @Sendable (DatabaseObject) -> Void {
            { object in
                #expect(object.properties.count == type.mapping.properties.count)
                self.counts.withLock { $0["\(hook) \(type)", default: 0] += 1 }
            }
        }
        try database.addHooks(
            ObjectHooks(
                awakeFromFetch: note("awakeFromFetch"), awakeFromInsert: note("awakeFromInsert"),
                willSave: note("willSave"), validate: note("validate")),
            to: name)
        let prepare = note("prepareForDeletion")
        try database.addHooks(ObjectHooks(prepareForDeletion: { prepare($0) }), to: name)
    }

    func take(_ hook: String, _ type: any TypedObject.Type) -> Int {
        counts.withLock { $0.removeValue(forKey: "\(hook) \(type)") ?? 0 }
    }
}

extension DatabaseObject {
    /// The value of every property of the object's class, by key.
    fileprivate var properties: [String: Any] {
        guard let type = type(of: self) as? any TypedObject.Type else { return [:] }
        return type.keys.reduce(into: [:]) { $0[$1.value] = self[keyPath: $1.key] }
    }

    /// Sets every property that can be set to its present value.
    fileprivate func setEverything() {
        func set<Root: TypedObject>(_ object: Root) {
            for keyPath in Root.keys.keys {
                func set<Value>(_ type: Value.Type) {
                    guard let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Value> else { return }
                    object[keyPath: keyPath] = object[keyPath: keyPath]
                }
                _openExistential(type(of: keyPath).valueType, do: set)
            }
        }
        if let object = self as? any TypedObject { set(object) }
    }
}
