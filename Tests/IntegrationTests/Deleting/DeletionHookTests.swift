import Kindred
import KindredTesting
import Synchronization
import Testing

private let atlas = """
    CREATE TABLE continent (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE country (id integer PRIMARY KEY, name text NOT NULL, continent_id integer NOT NULL REFERENCES continent);
    CREATE TABLE mood (id integer PRIMARY KEY, name text NOT NULL,
        country_id integer REFERENCES country ON DELETE SET NULL);
    CREATE TABLE city (id integer PRIMARY KEY, country_id integer NOT NULL REFERENCES country ON DELETE CASCADE);
    INSERT INTO continent VALUES (1, 'Europe'), (2, 'Australia');
    INSERT INTO country VALUES (1, 'Norway', 1), (2, 'Iceland', 1), (3, 'Australia', 2);
    INSERT INTO mood VALUES (1, 'happy', 1), (2, 'calm', 1), (3, 'sunny', 3);
    INSERT INTO city VALUES (1, 1), (2, 1), (3, 2), (4, 3);
    """

/// A country takes its continent with it if it was the last one.
private func registerCountryHook(_ database: Database, _ calls: CallLog) throws {
    try database.beforeDeletion(of: "country") { country in
        calls.add(country)
        guard let continent = try await country.object(forKey: "continent") else { return }
        let countries = try await continent.set(forKey: "countrySet").objects
        if countries.allSatisfy(\.isDeleted) { try await country.context.delete(continent) }
    }
}

private final class CallLog: Sendable {
    private let calls = Mutex<[String]>([])
    func add(_ object: DatabaseObject) {
        calls.withLock { $0.append("\(object.entity.name.name) \(object["id"] ?? 0)") }
    }
    var all: [String] { calls.withLock { $0 }.sorted() }
}

/// The hooks that are called before objects are deleted, and the actions that they may take.
@Suite struct DeletionHookTests {
    @Test(.database(.sql(atlas))) func theLastCountryTakesItsContinentWithIt() async throws {
        try await withDatabase { database, context, other in
            let calls = CallLog()
            try registerCountryHook(database, calls)
            let countries = try await context.fetch("country").sorted("id").all()
            let continents = try await context.fetch("continent").sorted("id").all()
            try await context.delete(countries[2])
            #expect(countries[2].isDeleted && continents[1].isDeleted && !continents[0].isDeleted)
            #expect(calls.all == ["country 3"])
            try await context.delete(countries[0])
            #expect(!continents[0].isDeleted)
            #expect(try await continents[0].set(forKey: "countrySet").objects == [countries[1]])
            try await context.delete(countries[1])
            #expect(continents[0].isDeleted)
            #expect(try await other.value("SELECT count(*) FROM continent") == 0)
            #expect(try await other.value("SELECT count(*) FROM city") == 0)
            #expect(try await other.value("SELECT count(*) FROM mood WHERE country_id IS NULL") == 3)
        }
    }

    @Test(.database(.sql(atlas))) func allCountriesAtOnceTakeTheContinentWithThemThoughNoneIsTheLast() async throws {
        try await withDatabase { database, context, other in
            let calls = CallLog()
            try registerCountryHook(database, calls)
            let countries = try await context.fetch("country").where("continent.name = %@", "Europe").all()
            try await context.delete(countries)
            #expect(calls.all == ["country 1", "country 2"])
            #expect(try await other.values("SELECT name FROM continent") == ["Australia"])
        }
    }

    @Test(.database(.sql(atlas))) func aMoodTakesItsCountryAndThatItsContinent() async throws {
        try await withDatabase { database, context, other in
            let calls = CallLog()
            try registerCountryHook(database, calls)
            try database.beforeDeletion(of: "mood") { mood in
                calls.add(mood)
                if let country = try await mood.object(forKey: "country") {
                    try await mood.context.delete(country)
                    #expect(country.isDeleted)
                }
            }
            let moods = try await context.fetch("mood").sorted("id").all()
            let city = try await context.fetch("city").where("id = 1").one()
            try await context.delete(moods[0])
            #expect(calls.all == ["country 1", "mood 1"])
            #expect(moods[0].isDeleted && city.isDeleted && moods[1]["country_id"] == nil && !moods[1].isDeleted)
            try await context.fetch("mood").where("name = %@", "sunny").delete()
            #expect(try await other.values("SELECT name FROM continent") == ["Europe"])
            #expect(try await other.values("SELECT name FROM country") == ["Iceland"])
            #expect(calls.all == ["country 1", "country 3", "mood 1", "mood 3"])
        }
    }

    @Test(.database(.sql(atlas))) func whatAHookThrowsStopsTheDeletion() async throws {
        struct No: Error {}
        try await withDatabase { database, context, other in
            try database.beforeDeletion(of: "city") { city in
                #expect(city.isDeleted)
                try await city.setValue(2, forKey: "country_id")
                if city["id"] == 2 { throw No() }
            }
            let country = try await context.fetch("country").where("id = 1").one()
            let cities = try await context.fetch("city").sorted("id").all()
            _ = try await country.set(forKey: "citySet").objects
            await #expect(throws: No.self) { () async throws in try await context.delete(country) }
            #expect(!country.isDeleted && !cities[0].isDeleted && !cities[1].isDeleted)
            #expect(cities[0]["country_id"] == 1)
            #expect(try await country.set(forKey: "citySet").count == 2)
            #expect(try await other.value("SELECT count(*) FROM city WHERE country_id = 1") == 2)
            // A city without a reference is not left marked as being deleted.
            let again = try await context.fetch("city").all()
            #expect(again.filter(\.isDeleted).isEmpty)
        }
    }

    @Test(.database(.sql(atlas))) func hooksAreCalledOnceAndSeeEveryoneOnTheWayOut() async throws {
        try await withDatabase { database, context, other in
            let calls = CallLog()
            for entity in ["country", "city"] {
                try database.beforeDeletion(of: entity) { object in
                    calls.add(object)
                    #expect(object.isDeleted)
                    try await object.context.delete(object)
                    if entity == "city" { #expect(try await object.object(forKey: "country")?.isDeleted == true) }
                }
            }
            let all = try await context.fetch("country").all()
            let (_, recorder) = try await recordingStatements { try await context.delete(all) }
            #expect(calls.all.count == 7)
            #expect(try await other.value("SELECT count(*) FROM city") == 0)
            #expect(recorder.statements.filter { $0.hasPrefix("WITH") }.count == 1)
        }
    }

    @Test(
        .database(
            .sql(
                atlas + """
                    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                    CREATE TRIGGER refuse BEFORE DELETE ON country FOR EACH ROW EXECUTE FUNCTION refuse();
                    """)))
    func objectsThatHooksHaveSeenLiveOnIfTheServerRefuses() async throws {
        try await withDatabase { database, context, other in
            let seen = Mutex<[DatabaseObject]>([])
            try database.beforeDeletion(of: "city") { city in seen.withLock { $0.append(city) } }
            try database.beforeDeletion(of: "country") { country in
                let moods = try await country.set(forKey: "moodSet").objects
                let cities = try await country.set(forKey: "citySet").objects
                #expect(!cities.contains { !$0.isDeleted })
                seen.withLock { $0 += moods + cities }
            }
            let country = try await context.fetch("country").where("id = 1").one()
            await #expect(throws: (any Error).self) { () async throws in try await context.delete(country) }
            let objects = seen.withLock { Set($0) }
            #expect(objects.count == 4)
            for object in objects.union([country]) {
                #expect(!object.isDeleted)
                try await object.refresh()
            }
            #expect(try await country.set(forKey: "citySet").count == 2)
        }
    }
}
