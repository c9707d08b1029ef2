import Kindred

/// The works that are counted on the database of the other measurements.
enum ShopWorks {
    static func all(_ shop: BenchmarkDatabase, _ database: Database, typed: Database) async throws -> [CountedWork] {
        try await objects(database, typed: typed) + saves(shop, database, typed: typed)
            + requests(database, typed: typed) + sets(database) + cascades(shop, database)
    }

    static func catalog(_ database: Database) -> CountedWork {
        CountedWork(name: "catalog of 375 tables with 770 keys", unit: "table", count: 375) { _ in
            _ = try await database.refreshSchema()
        }
    }
}
