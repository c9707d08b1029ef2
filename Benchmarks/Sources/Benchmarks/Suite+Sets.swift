import CFloor
import Kindred

extension Suite {
    /// Members that come and go, one at a time, and how many there are.
    static func sets(_ shop: BenchmarkDatabase, _ database: Database) async throws -> [Measurement] {
        let owners = try await Owners(database)
        let (authors, volumes) = (Int(Workload.authors), Workload.looseVolumes.count)
        return [
            Measurement(
                name: "set insert and remove", unit: "changes", goal: nil,
                floor: {
                    try shop.withTarget { target in
                        let time = try seconds(
                            floor_members(
                                target, Workload.setShelf, Workload.emptyShelf, Workload.looseVolumes.lowerBound,
                                Int32(volumes)))
                        return Double(2 * volumes) / time
                    }
                }
            ) {
                try await rate(of: 2 * volumes) { try await owners.insertAndRemoveVolumes() }
            },
            Measurement(
                name: "count of a set", unit: "sets", goal: nil,
                floor: {
                    try shop.withTarget { target in
                        let time = try seconds(
                            floor_lookup(target, Workload.countOfBooks, Workload.authors, Workload.authors))
                        return Double(authors) / time
                    }
                }
            ) {
                try await rate(of: authors) { try await owners.countBooks() }
            },
        ]
    }

    /// One deletion that takes 10,000 rows along.
    static func cascades(_ shop: BenchmarkDatabase, _ database: Database) -> [Measurement] {
        let count = Workload.cascaded
        let crate = Kept<Crate>()
        return [
            Measurement(
                name: "cascade of 10,000 by a delete rule", unit: "objects", goal: nil,
                prepare: { try shop.fillShelves() },
                floor: {
                    try shop.withTarget { Double(count) / (try seconds(floor_script($0, Workload.deleteShelf))) }
                }
            ) {
                try await rate(of: count) { try await deleteShelf(database) }
            },
            Measurement(
                name: "cascade of 10,000 held objects by the foreign key", unit: "objects", goal: nil,
                prepare: {
                    try shop.fillShelves()
                    crate.keep(try await Crate(database))
                },
                floor: {
                    try shop.withTarget { Double(count) / (try seconds(floor_script($0, Workload.deleteCrate))) }
                }
            ) {
                try await rate(of: count) { try await crate.value?.delete() }
            },
        ]
    }

    /// Deletes an object whose rule deletes 10,000 others, none of them in memory.
    static func deleteShelf(_ database: Database) async throws {
        let context = database.makeContext()
        guard let shelf = try await context.find("shelf", 1) else { throw UnexpectedResult() }
        try await context.delete(shelf)
        guard shelf.isDeleted else { throw UnexpectedResult() }
    }
}

/// Owners of sets that are not loaded, each found alone, and volumes to put into one.
struct Owners: Sendable {
    private let context: DatabaseContext
    private let authors: [DatabaseObject]
    private let shelf: DatabaseObject
    private let volumes: [DatabaseObject]

    init(_ database: Database) async throws {
        context = database.makeContext()
        var authors: [DatabaseObject] = []
        for key in 1...Int(Workload.authors) {
            guard let author = try await context.find("author", key) else { throw UnexpectedResult() }
            authors.append(author)
        }
        self.authors = authors
        guard let shelf = try await context.find("shelf", Int(Workload.emptyShelf)) else { throw UnexpectedResult() }
        self.shelf = shelf
        volumes = try await context.fetch("volume").where("shelf == nil").sorted("id").all()
        guard volumes.count == Workload.looseVolumes.count else { throw UnexpectedResult() }
    }

    func insertAndRemoveVolumes() async throws {
        let set = try await shelf.set(forKey: "volumeSet")
        for volume in volumes {
            try await set.insert(volume)
            try await set.remove(volume)
        }
        withExtendedLifetime(context) {}
    }

    /// One statement for each, since none was fetched together with others.
    func countBooks() async throws {
        let books = Int(Workload.books / Workload.authors)
        for author in authors {
            guard try await author.set(forKey: "bookSet").count == books else { throw UnexpectedResult() }
        }
        withExtendedLifetime(context) {}
    }
}

/// A crate with all of its sheets in memory.
struct Crate: Sendable {
    private let context: DatabaseContext
    private let crate: DatabaseObject
    private let sheets: [DatabaseObject]

    init(_ database: Database) async throws {
        context = database.makeContext()
        guard let crate = try await context.find("crate", 1) else { throw UnexpectedResult() }
        self.crate = crate
        sheets = try await crate.set(forKey: "sheetSet").objects
        guard sheets.count == Workload.cascaded else { throw UnexpectedResult() }
    }

    func delete() async throws {
        try await context.delete(crate)
        guard crate.isDeleted, sheets.last?.isDeleted == true else { throw UnexpectedResult() }
    }
}
