import Foundation
import Kindred
import KindredLive

/// A context that follows the database, and what the oracle had loaded into it.
actor TrackedContext {
    private struct Load {
        let name: String
        let entity: String
        let keys: [JSON]
        /// nil where no row had the key.
        let objects: [DatabaseObject?]
        let sets: [String]
        let counts: [String]
        let ones: [String]
    }

    private let context: DatabaseContext
    private var loads: [Load] = []

    init(_ database: Database) { context = database.makeContext(tracking: .automatic) }

    /// Does an operation, and answers with its token.
    func handle(_ operation: JSON) async {
        let token = operation["token"] ?? .null
        do {
            let (event, facts) = try await LiveAgent.persistently { try await self.answer(to: operation) }
            Output.say(event, facts.merging(["token": token]) { first, _ in first })
        } catch {
            Output.say("error", ["token": token, "message": .string("\(error)")])
        }
    }

    private func answer(to operation: JSON) async throws -> (String, [String: JSON]) {
        switch operation["op"]?.string {
        case "load":
            loads.append(try await load(operation))
            return ("loaded", [:])
        case "stage":
            return ("staged", ["ok": .bool(try await stage(operation))])
        case "save":
            return ("saved", try await save(operation["txn"]?.int ?? 0))
        case "discard":
            context.rollback()
            return ("discarded", [:])
        default:
            return ("read", try await read())
        }
    }

    private func load(_ operation: JSON) async throws -> Load {
        let entity = operation["entity"]?.string ?? ""
        let keys = operation["keys"]?.array ?? []
        let found = try await context.find(entity, keys.map(\.key))
        let load = Load(
            name: operation["load"]?.string ?? "", entity: entity, keys: keys,
            objects: keys.map { key in found.first { $0.objectID?.json == key } },
            sets: operation["sets"]?.strings ?? [], counts: operation["counts"]?.strings ?? [],
            ones: operation["ones"]?.strings ?? [])
        for object in found { _ = try await content(of: object, load) }
        return load
    }

    private func stage(_ operation: JSON) async throws -> Bool {
        let (entity, key) = (operation["entity"]?.string ?? "", operation["key"] ?? .null)
        let loaded = loads.filter { $0.entity == entity }.lazy.compactMap { load in
            zip(load.keys, load.objects).first { $0.0 == key }?.1
        }.first
        let found = loaded == nil ? try await context.find(entity, [key.key]).first : nil
        guard let object = loaded ?? found, !object.isDeleted else { return false }
        for (name, value) in operation["values"]?.members ?? [:] {
            object[name] = value.string.map { PostgresValue.string($0) }
        }
        return true
    }

    private func save(_ transaction: Int) async throws -> [String: JSON] {
        do {
            _ = try context.add("public.ledger", ["txn": transaction, "writer": 77])
            try await context.save()
            return ["ok": .bool(true)]
        } catch let error as KindredError {
            return ["ok": .bool(false), "code": .string("\(error.code)")]
        } catch let error as PostgresError {
            return ["ok": .bool(false), "code": .string("\(error.code)")]
        }
    }

    /// Reads from memory; forgotten values are read again, and counted.
    private func read() async throws -> [String: JSON] {
        do {
            return ["statements": .int(0), "objects": try await withStatementLimit(0) { try await objects() }]
        } catch let error as PostgresError where error.code == .statementLimitExceeded {
            let (found, recorder) = try await recordingStatements { try await objects() }
            return ["statements": .int(Int64(recorder.statements.count)), "objects": found]
        }
    }

    private func objects() async throws -> JSON {
        var told: [JSON] = []
        for load in loads {
            for (key, object) in zip(load.keys, load.objects) {
                var facts: [String: JSON] = [
                    "load": .string(load.name), "handle": key, "key": key, "deleted": .bool(true),
                    "values": .object([:]),
                    "sets": .object([:]), "counts": .object([:]), "ones": .object([:]),
                ]
                if let object {
                    facts["key"] = object.objectID?.json ?? key
                    facts["deleted"] = .bool(object.isDeleted)
                    facts["values"] = object.values
                    if !object.isDeleted { facts.merge(try await content(of: object, load)) { _, new in new } }
                }
                told.append(.object(facts))
            }
        }
        return .array(told)
    }

    /// The sets' members, the sets' counts and the to-one ends, read where they are not in memory.
    private func content(of object: DatabaseObject, _ load: Load) async throws -> [String: JSON] {
        var (sets, counts, ones): ([String: JSON], [String: JSON], [String: JSON]) = ([:], [:], [:])
        for name in load.sets {
            guard let set = try await object.value(forKey: name)?.set else { continue }
            sets[name] = .array(try await set.objects.map { $0.objectID?.json ?? .null })
        }
        for name in load.counts {
            guard let set = try await object.value(forKey: name)?.set else { continue }
            counts[name] = .int(Int64(try await set.count))
        }
        for name in load.ones {
            ones[name] = try await object.object(forKey: name)?.objectID?.json ?? .null
        }
        return ["sets": .object(sets), "counts": .object(counts), "ones": .object(ones)]
    }
}
