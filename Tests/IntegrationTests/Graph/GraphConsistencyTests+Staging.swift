import Kindred
import KindredTesting
import TestSupport
import Testing

extension GraphConsistencyTests {
    private static let stagingSchema =
        referenceSchema + "ALTER TABLE person ADD mentor_id integer REFERENCES person ON DELETE SET NULL;"

    private struct Undone: Error {}

    /// How many sequences each of the databases sees, short ones most of them.
    private static let sequences = TestAmount.of(25, full: UInt64(250), long: 2_000)

    /// Staged and written changes, saves, refusals and rollbacks: memory and a fresh context are what a model says.
    ///
    /// Making a database costs as much as many sequences, so each has its rows put back between them.
    @Test(.database(.sql(stagingSchema), timeLimit: .seconds(3_600)), arguments: UInt64(0)..<8)
    func stagedChangesFollowAPlainModel(block: UInt64) async throws {
        try await withDatabase { database, _, other in
            for number in 0..<Self.sequences {
                let seed = block * 1_000_000 + number
                try await Self.sequence(seed: seed, steps: number % 100 == 0 ? 50 : 3 + Int(number % 4), database)
                try await other.runScript(
                    """
                    DELETE FROM person_title_rel; DELETE FROM email; DELETE FROM person; DELETE FROM title;
                    \(referenceRows)
                    """)
            }
        }
    }

    private static func sequence(seed: UInt64, steps: Int, _ database: Database) async throws {
        let context = database.makeContext()
        do {
            var random = SeededGenerator(seed: seed)
            var world = try await Self.load(context)
            for step in 0..<steps {
                let before = world
                do {
                    if Int.random(in: 0..<8, using: &random) == 0 {
                        try await context.transaction {
                            for _ in 0..<3 { try await Self.stagedStep(context, &world, &random) }
                            if Bool.random(using: &random) { try await Self.save(context, &world, &random) }
                            throw Undone()
                        }
                    } else if Int.random(in: 0..<8, using: &random) == 0 {
                        try await Self.save(context, &world, &random)
                    } else if Int.random(in: 0..<16, using: &random) == 0 {
                        context.rollback()
                        world.rolledBack()
                    } else {
                        try await Self.stagedStep(context, &world, &random)
                    }
                } catch is Undone {
                    // Objects that were made inside are given up.
                    var after = before
                    after.objects = world.objects
                    after.numbers = world.numbers
                    world = after
                }
                // Relationships that are not loaded have to be right when they are read.
                for (number, object) in world.objects
                where !object.isDeleted && !world.new.contains(number) && Int.random(in: 0..<4, using: &random) == 0 {
                    try await object.refresh()
                }
                if Int.random(in: 0..<3, using: &random) > 0 {
                    let problem = try await world.difference()
                    try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
                }
                let problem = try await world.storedDifference(database)
                try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
            }
        } catch {
            context.rollback()
            throw error
        }
        context.rollback()
    }

    private static func load(_ context: DatabaseContext) async throws -> StagedWorld {
        var world = StagedWorld()
        for person in try await context.fetch("person").all() {
            world.stored.surnames[world.add(person, isNew: false)] = person["surname"]?.description
        }
        for title in try await context.fetch("title").all() {
            world.stored.titles.insert(world.add(title, isNew: false))
        }
        for email in try await context.fetch("email").all() {
            let number = world.add(email, isNew: false)
            world.stored.addresses[number] = email["address"]?.description
            world.stored.owners[number] = try await email.object(forKey: "person").flatMap { world.numbers[$0] }
        }
        for (person, _) in world.stored.surnames {
            for title in try await world.objects[person]?.set(forKey: "titles").objects ?? [] {
                if let title = world.numbers[title] { world.stored.pairs.insert([person, title]) }
            }
        }
        world.shown = world.stored
        return world
    }

    /// Saves, now and then with something that the server or validation refuses first.
    private static func save(
        _ context: DatabaseContext,
        _ world: inout StagedWorld,
        _ random: inout SeededGenerator
    ) async throws {
        if Int.random(in: 0..<3, using: &random) == 0 {
            let isTwin = Bool.random(using: &random)
            let bad = try context.add("title", isTwin ? ["name": "Dr"] : [:])
            await #expect(throws: KindredError.self) { try await context.save() }
            bad.rollback()
        }
        try await context.save()
        world.saved()
        #expect(!context.hasStagedChanges)
    }

    private static func stagedStep(
        _ context: DatabaseContext,
        _ world: inout StagedWorld,
        _ random: inout SeededGenerator
    ) async throws {
        let deletions = world.deletions
        guard let person = world.shown.surnames.keys.sorted().randomElement(using: &random),
            let other = world.shown.surnames.keys.sorted().randomElement(using: &random),
            let title = world.shown.titles.sorted().randomElement(using: &random),
            let human = world.objects[person], let second = world.objects[other], let honour = world.objects[title]
        else { return }
        let emails = world.shown.addresses.keys.sorted().filter { !deletions.contains($0) }
        let email = emails.randomElement(using: &random)
        let mail = email.flatMap { world.objects[$0] }
        let isNewPair = world.new.contains(person) || world.new.contains(title)
        let name = "n\(Int.random(in: 0..<1000, using: &random))"
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            world.shown.surnames[world.add(try context.add("person", ["surname": name]), isNew: true)] = name
        case 1, 2:
            let number = world.add(try context.add("email", ["address": name, "person": human]), isNew: true)
            world.shown.addresses[number] = name
            world.shown.owners[number] = person
        case 3:
            let number = world.add(try context.add("title", ["name": name + "\(world.objects.count)"]), isNew: true)
            world.shown.titles.insert(number)
        case 4:
            human["surname"] = .string(name)
            world.shown.surnames[person] = name
        case 5:
            guard let email, let mail else { return }
            mail["address"] = .string(name)
            world.shown.addresses[email] = name
        case 6, 7:
            guard let email, let mail else { return }
            let isStaged = world.new.contains(email) || world.new.contains(person)
            try await mail.setValue(human, forKey: "person")
            world.point(\.owners, email, to: person, isStaged: isStaged)
        case 8:
            guard let email, let mail else { return }
            try await mail.setValue(nil, forKey: "person")
            world.point(\.owners, email, to: nil, isStaged: world.new.contains(email))
        case 9:
            guard let email, let mail, !world.new.contains(person) else { return }
            mail["person_id"] = human["id"]
            world.point(\.owners, email, to: person, isStaged: true)
        case 10:
            guard let email, let mail else { return }
            try await human.set(forKey: "emailSet").insert(mail)
            let isStaged = world.new.contains(email) || world.new.contains(person)
            world.point(\.owners, email, to: person, isStaged: isStaged)
        case 11:
            guard let email, let mail, world.shown.owners[email] == person else { return }
            // A member by a staged change leaves by a staged change.
            let isStaged = world.new.contains(email) || world.stored.owners[email] != person
            try await human.set(forKey: "emailSet").remove(mail)
            world.point(\.owners, email, to: nil, isStaged: isStaged)
        case 12:
            try await human.set(forKey: "titles").insert(honour)
            world.pair(person, title, isThere: true, isStaged: isNewPair)
        case 13:
            try await honour.set(forKey: "people").remove(human)
            world.pair(person, title, isThere: false, isStaged: isNewPair)
        case 14:
            let isStaged = world.new.contains(person) || world.new.contains(other)
            try await human.setValue(second, forKey: "mentor")
            world.point(\.mentors, person, to: other, isStaged: isStaged)
        default:
            guard let email, let mail else { return }
            if world.new.contains(email) {
                mail.rollback()
                world.shown.addresses[email] = nil
                world.shown.owners[email] = nil
                world.new.remove(email)
            } else {
                try context.stageDeletion(of: mail)
                world.deletions.insert(email)
            }
        }
    }
}
