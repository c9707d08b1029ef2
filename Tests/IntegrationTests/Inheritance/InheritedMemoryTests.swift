import Kindred
import KindredTesting
import Testing

/// The objects of one row in two tables: a write through one leaves the other as it was read, and relationships that
/// were loaded with it are read again.
@Suite struct InheritedMemoryTests {
    private static let schema = """
        CREATE TABLE country (id int PRIMARY KEY, name text);
        CREATE TABLE place (id int PRIMARY KEY, name text, country_id int REFERENCES country);
        CREATE TABLE city (PRIMARY KEY (id), mayor text, FOREIGN KEY (country_id) REFERENCES country) INHERITS (place);
        CREATE TABLE port (PRIMARY KEY (id), FOREIGN KEY (country_id) REFERENCES country) INHERITS (place);
        CREATE TABLE seaport (PRIMARY KEY (id), FOREIGN KEY (country_id) REFERENCES country) INHERITS (city, port);
        INSERT INTO country VALUES (1, 'A'), (2, 'B');
        INSERT INTO place VALUES (1, 'place 1', 1);
        INSERT INTO city VALUES (1, 'city 1', 1);
        INSERT INTO seaport VALUES (1, 'seaport 1', 1);
        """

    private func names(_ country: DatabaseObject, _ key: String) async throws -> [String] {
        try await country.set(forKey: key).objects.map { "\($0["name"] ?? "-")" }.sorted()
    }

    @Test(.database(.sql(schema))) func setsOfTheOtherTablesAreReadAgain() async throws {
        try await withDatabase { database, context, other in
            let country = try await context.fetch("country").where("id = 1").one()
            let second = try await context.fetch("country").where("id = 2").one()
            func expectRows() async throws {
                for (owner, id) in [(country, 1), (second, 2)] {
                    for table in ["place", "city", "port", "seaport"] {
                        let expected = try await other.values(
                            "SELECT name FROM \(unsafeRaw: table) WHERE country_id = \(id) ORDER BY 1")
                        #expect(try await names(owner, table + "Set") == expected.map { "\($0 ?? "-")" }, "\(table)")
                    }
                }
            }
            try await expectRows()
            let seaport = try await row("seaport 1", as: "seaport", context)
            try await seaport.setValue(second, forKey: "country")
            try await expectRows()
            try await row("seaport 1", as: "port", context).setValue(country, forKey: "country")
            try await expectRows()
            try await row("seaport 1", as: "place", context).setValue(second, forKey: "country")
            try await expectRows()
            _ = try await context.create("city", ["id": 5, "name": "new", "country": country])
            try await expectRows()
            _ = try context.add("seaport", ["id": 6, "name": "newer", "country": country])
            try await context.save()
            try await expectRows()
            try await context.fetch("place").where("name = 'new'").update(["country_id": 2])
            try await expectRows()
            try await context.delete(try await row("newer", as: "city", context))
            try await expectRows()
            _ = try await context.fetch("port").delete()
            try await expectRows()
        }
    }

    @Test(.database(.sql(schema))) func theOtherObjectShowsTheChangeWhenItIsReadAgain() async throws {
        try await withDatabase { database, context, other in
            let place = try await row("city 1", as: "place", context)
            let city = try await row("city 1", as: "city", context)
            #expect(place !== city)
            try await city.setValue("changed", forKey: "name")
            #expect(place["name"] == "city 1")
            #expect(try await context.fetch("place").where("name = 'changed'").one() === place)
            #expect(place["name"] == "changed")
            try await place.setValue("again", forKey: "name")
            try await city.refresh()
            #expect(city["name"] == "again")
            try await context.delete(place)
            await expectError(.objectDeleted) { try await city.refresh() }
            #expect(city.isDeleted)
            #expect(try await other.values("SELECT name FROM place ORDER BY 1") == ["place 1", "seaport 1"])
        }
    }
}
