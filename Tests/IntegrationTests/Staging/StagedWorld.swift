import Kindred

/// A plain model of people, e-mails and titles: what the database has, and what the context shows.
struct StagedWorld {
    struct State: Equatable {
        var surnames: [Int: String] = [:]
        var addresses: [Int: String] = [:]
        var owners: [Int: Int] = [:]
        var mentors: [Int: Int] = [:]
        var titles: Set<Int> = []
        var pairs: Set<[Int]> = []
    }

    /// Objects by the model's own numbers; they are held for the whole run.
    var objects: [Int: DatabaseObject] = [:]
    var numbers: [DatabaseObject: Int] = [:]
    var stored = State()
    var shown = State()
    /// Numbers of objects that are not stored yet, and of e-mails whose deletion is staged.
    var new: Set<Int> = []
    var deletions: Set<Int> = []

    mutating func add(_ object: DatabaseObject, isNew: Bool) -> Int {
        let number = objects.count
        objects[number] = object
        numbers[object] = number
        if isNew { new.insert(number) }
        return number
    }

    /// The person that an e-mail or person points to changes, in memory, and in the database if it is written at once.
    mutating func point(_ link: WritableKeyPath<State, [Int: Int]>, _ from: Int, to: Int?, isStaged: Bool) {
        shown[keyPath: link][from] = to
        if !isStaged { stored[keyPath: link][from] = to }
    }

    mutating func pair(_ person: Int, _ title: Int, isThere: Bool, isStaged: Bool) {
        func change(_ state: inout State) {
            if isThere { state.pairs.insert([person, title]) } else { state.pairs.remove([person, title]) }
        }
        change(&shown)
        if !isStaged { change(&stored) }
    }

    mutating func saved() {
        for email in deletions {
            shown.addresses[email] = nil
            shown.owners[email] = nil
        }
        stored = shown
        new = []
        deletions = []
    }

    mutating func rolledBack() {
        shown = stored
        new = []
        deletions = []
    }

    /// The first difference between the model and the objects in memory, if any.
    func difference() async throws -> String? {
        func number(_ object: DatabaseObject?) -> Int? { object.flatMap { numbers[$0] } }
        for (person, surname) in shown.surnames {
            guard let object = objects[person] else { continue }
            if object["surname"] != .string(surname) { return "\(object) has another surname" }
            if number(try await object.object(forKey: "mentor")) != shown.mentors[person] { return "\(object).mentor" }
            let sets: [(String, Set<Int>)] = [
                ("emailSet", Set(shown.owners.filter { $0.value == person }.keys)),
                ("titles", Set(shown.pairs.filter { $0[0] == person }.map { $0[1] })),
                (
                    object.entity.relationship(named: "mentor")?.inverse ?? "",
                    Set(shown.mentors.filter { $0.value == person }.keys)
                ),
            ]
            for (key, expected) in sets {
                let set = try await object.set(forKey: key)
                let found = try await set.objects
                if Set(found.compactMap(number)) != expected || found.count != expected.count {
                    return "\(object).\(key) is \(found)"
                }
                if try await set.count != expected.count { return "\(object).\(key) counts wrong" }
            }
        }
        for (email, address) in shown.addresses {
            guard let object = objects[email] else { continue }
            if object["address"] != .string(address) { return "\(object) has another address" }
            if number(try await object.object(forKey: "person")) != shown.owners[email] { return "\(object).person" }
        }
        for title in shown.titles {
            guard let object = objects[title] else { continue }
            let found = try await object.set(forKey: "people").objects.compactMap(number)
            let expected = shown.pairs.filter { $0[1] == title }.map { $0[0] }
            if Set(found) != Set(expected) || found.count != expected.count { return "\(object).people is \(found)" }
        }
        return nil
    }

    /// The first difference between the model and a fresh context, if any.
    func storedDifference(_ database: Database) async throws -> String? {
        let fresh = database.makeContext()
        var ids: [DatabaseObject: Int] = [:]
        var twins: [Int: DatabaseObject] = [:]
        for (number, object) in objects where !object.isDeleted && !object.isInserted {
            guard let id = object.objectID else { continue }
            let twin = try await fresh.get(id)
            ids[twin] = number
            twins[number] = twin
        }
        let known = stored.surnames.count + stored.addresses.count + stored.titles.count
        if twins.count != known { return "\(twins.count) rows, not \(known)" }
        for (person, surname) in stored.surnames {
            guard let twin = twins[person] else { return "person \(person) is not stored" }
            if twin["surname"] != .string(surname) { return "stored surname of \(twin)" }
            let mentor = try await twin.object(forKey: "mentor").flatMap { ids[$0] }
            if mentor != stored.mentors[person] { return "stored mentor of \(twin)" }
            let titles = try await twin.set(forKey: "titles").objects.compactMap { ids[$0] }
            if Set(titles) != Set(stored.pairs.filter { $0[0] == person }.map { $0[1] }) { return "titles of \(twin)" }
        }
        for (email, address) in stored.addresses {
            guard let twin = twins[email] else { return "email \(email) is not stored" }
            if twin["address"] != .string(address) { return "stored address of \(twin)" }
            let owner = try await twin.object(forKey: "person").flatMap { ids[$0] }
            if owner != stored.owners[email] { return "stored owner of \(twin)" }
        }
        return nil
    }
}
