import KindredPostgres
import Testing

@testable import Kindred

/// People with loaded sets of emails, in a context whose database is never queried.
struct PeopleAndEmails {
    struct Email: Equatable {
        var owner: Int
        var address: String
    }

    private let offline: OfflineContext
    let email: EntityRuntime
    private let emails: RelationshipRuntime
    let owners: [DatabaseObject]

    var core: ContextCore { offline.context.core }

    init(owners count: Int) throws {
        let offline = try OfflineContext()
        let core = offline.context.core
        let person = try core.runtime.entity(named: "person")
        email = try core.runtime.entity(named: "email")
        emails = try #require(person.relationship(named: "emailSet"))
        owners = try (1...count).map { id in
            var cells = RowCells()
            try cells.set(.integer(Int64(id)), at: 0, of: person, nil)
            let object = core.make(person, cells.row(person.emptyRow(core.types).columns), in: nil, at: 0)
            _ = core.withMap { $0.insert(object, of: person, key: .integer(Int64(id))) }
            return object
        }
        self.offline = offline
    }

    func journal() -> TransactionJournal { offline.journal() }

    func row(_ id: Int, _ value: Email) throws -> Row {
        var cells = RowCells()
        try cells.set(.integer(Int64(id)), at: 0, of: email, nil)
        try cells.set(.string(value.address), at: 1, of: email, nil)
        try cells.set(.integer(Int64(value.owner)), at: 2, of: email, nil)
        return cells.row(email.emptyRow(core.types).columns)
    }

    /// The object of a row that was read: the known one, or a new one.
    func object(_ id: Int, _ value: Email) throws -> DatabaseObject {
        let key = ObjectKey.integer(Int64(id))
        if let object = core.liveObject(email, key) {
            try core.take(try row(id, value), for: object, readAt: core.now)
            return object
        }
        let object = core.make(email, try row(id, value), in: nil, at: 0)
        object.withState { $0.seenAt = core.now }
        core.withMap { map in
            _ = map.insert(object, of: email, key: key)
            core.bringUpToDate(object, key, askedAt: core.now, in: &map)
        }
        return object
    }

    /// Loads an owner's set from what the database had.
    func load(_ owner: DatabaseObject, _ database: [Int: Email], askedAt: ContextTime? = nil) throws {
        let number = try #require(try owner.row.decode(0, as: Int.self))
        let members = try database.sorted { $0.key < $1.key }.filter { $0.value.owner == number }.map { id, value in
            Member(key: .integer(Int64(id)), row: try row(id, value))
        }
        core.willAsk(emails)
        let batch = Answer(members, askedAt: askedAt ?? core.now, in: nil)
        try core.take(batch, of: email)
        _ = core.show(LoadedMembers(batch, 0..<members.count), in: emails, of: owner)
    }

    /// The members that an owner shows without a statement; nil if they must be read.
    func shown(_ owner: DatabaseObject) throws -> [Int: Email]? {
        guard let members = core.loadedMembers(of: emails, owner: owner),
            let objects = core.objects(members, of: email)
        else { return nil }
        var shown: [Int: Email] = [:]
        for object in objects {
            let id = try #require(try object.row.decode(0, as: Int.self))
            let address = try #require(try object.row.decode(1, as: String.self))
            shown[id] = Email(owner: try #require(try object.row.decode(2, as: Int.self)), address: address)
        }
        return shown
    }
}

/// A database that others change, and a context that is told of it later.
struct CommittedWorld {
    private enum Change {
        case updated
        case moved
    }

    private let people: PeopleAndEmails
    private var random: Generator
    private var database: [Int: PeopleAndEmails.Email] = [:]
    /// The changes that the context has not been told of.
    private var changes: [Int: Change] = [:]
    private var held: [Int: DatabaseObject] = [:]
    /// A query that is on its way: when it was sent, and whether it has been carried out already.
    private var onTheWay: (owner: DatabaseObject, askedAt: ContextTime, answer: [Int: PeopleAndEmails.Email])?
    private var number = 0

    init(people: PeopleAndEmails, random seed: UInt64) throws {
        (self.people, random) = (people, Generator(state: seed))
        for owner in people.owners { try people.load(owner, [:]) }
    }

    /// Does one thing by chance.
    mutating func step() throws {
        let id = random.next(12)
        switch random.next(8) {
        case 0...2: change(id)
        case 3:
            // Another state may be read than the context was told of.
            if let email = database[id] { held[id] = try people.object(id, email) }
        case 4: held[id] = nil
        case 5: try people.load(nextOwner(), database)
        case 6:
            if let query = onTheWay {
                try people.load(query.owner, query.answer, askedAt: query.askedAt)
                onTheWay = nil
            } else {
                onTheWay = (nextOwner(), people.core.now, database)
            }
        default: try tell()
        }
    }

    private mutating func nextOwner() -> DatabaseObject { people.owners[random.next(people.owners.count)] }

    /// Another client commits a change.
    private mutating func change(_ id: Int) {
        number += 1
        let email = PeopleAndEmails.Email(owner: 1 + random.next(people.owners.count), address: "\(number)")
        guard let before = database[id] else {
            database[id] = email
            changes[id] = .moved
            return
        }
        switch random.next(3) {
        case 0:
            database[id] = nil
            changes[id] = .moved
        case 1:
            database[id] = PeopleAndEmails.Email(owner: before.owner, address: "\(number)")
            if changes[id] == nil { changes[id] = .updated }
        default:
            database[id] = email
            changes[id] = .moved
        }
    }

    /// Tells the context the changes; more may happen between the snapshot and the telling.
    private mutating func tell() throws {
        let askedAt = people.core.beginReading()
        var told: [RowChange] = []
        for (id, change) in changes {
            guard let email = database[id] else {
                told.append(RowChange(deleted: .integer(Int64(id)), of: people.email))
                continue
            }
            let row = try people.row(id, email)
            told.append(RowChange(written: row, of: people.email, hasMoved: change == .moved))
        }
        let before = changes
        changes = [:]
        if random.next(3) == 0 {
            let id = random.next(12)
            self.change(id)
            if let email = database[id], random.next(2) == 0 { held[id] = try people.object(id, email) }
        }
        for change in try people.core.take(told, by: .committed(askedAt)) {
            guard let id = change.key?.integer.map({ Int($0) }) else { continue }
            changes[id] = changes[id] == nil ? before[id] : .moved
        }
    }

    /// Tells the context everything, and compares.
    mutating func settle() throws {
        if let query = onTheWay { try people.load(query.owner, query.answer, askedAt: query.askedAt) }
        onTheWay = nil
        for _ in 0..<20 where !changes.isEmpty { try tell() }
        while !changes.isEmpty {
            changes = changes.mapValues { _ in .moved }
            try tell()
        }
        for (place, owner) in people.owners.enumerated() {
            let expected = database.filter { $0.value.owner == place + 1 }
            #expect(try people.shown(owner) == expected)
        }
        for (id, object) in held {
            guard let email = database[id], !object.isDeleted else { continue }
            #expect(try object.storedName == email.address)
        }
    }
}
