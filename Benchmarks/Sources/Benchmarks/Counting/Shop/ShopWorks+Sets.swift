import Kindred

extension ShopWorks {
    /// Members that come and go, and how many there are.
    static func sets(_ database: Database) async throws -> [CountedWork] {
        let owners = try await Owners(database)
        return [
            CountedWork(name: "set insert and remove", unit: "change", count: 2 * Workload.looseVolumes.count) { _ in
                try await owners.insertAndRemoveVolumes()
            },
            CountedWork(name: "count of a set", unit: "set", count: Int(Workload.authors)) { _ in
                try await owners.countBooks()
            },
        ]
    }

    /// One deletion that takes 10,000 rows along.
    static func cascades(_ shop: BenchmarkDatabase, _ database: Database) -> [CountedWork] {
        let crate = Kept<Crate>()
        return [
            CountedWork(
                name: "cascade of 10,000 by a delete rule", unit: "object", count: Workload.cascaded,
                prepare: { try shop.fillShelves() }
            ) { _ in
                try await Suite.deleteShelf(database)
            },
            CountedWork(
                name: "cascade of 10,000 held objects by the foreign key", unit: "object", count: Workload.cascaded,
                prepare: {
                    try shop.fillShelves()
                    crate.keep(try await Crate(database))
                }
            ) { _ in
                try await crate.value?.delete()
            },
        ]
    }
}
