import Kindred
import KindredTesting
import TestSupport
import Testing

/// A row whose key changes keeps its identity: in the sets that hold it, and for the rows that reference it.
@Suite struct KeyChangeTests {
    private static let schema = """
        CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL, number integer UNIQUE);
        CREATE TABLE mayor (id integer PRIMARY KEY);
        CREATE TABLE city (
            country_code text REFERENCES country ON UPDATE CASCADE, name text, mayor_id integer REFERENCES mayor,
            PRIMARY KEY (country_code, name));
        CREATE TABLE street (
            id integer PRIMARY KEY, country_code text, city_name text,
            FOREIGN KEY (country_code, city_name) REFERENCES city ON UPDATE CASCADE);
        CREATE TABLE plate (id integer PRIMARY KEY, country_number integer REFERENCES country (number) ON UPDATE SET NULL);
        CREATE TABLE language (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE country_language (
            country_code text REFERENCES country ON UPDATE CASCADE, language_id integer REFERENCES language,
            PRIMARY KEY (country_code, language_id));
        INSERT INTO country VALUES ('a', 'A', 1), ('b', 'B', 2);
        INSERT INTO mayor VALUES (1), (2);
        INSERT INTO city VALUES ('a', 'x', 1), ('a', 'y', 1), ('b', 'x', 2);
        INSERT INTO street VALUES (1, 'a', 'x'), (2, 'a', 'x'), (3, 'b', 'x');
        INSERT INTO plate VALUES (1, 1), (2, 1), (3, 2);
        INSERT INTO language VALUES (1, 'l'), (2, 'm');
        INSERT INTO country_language VALUES ('a', 1), ('a', 2), ('b', 1);
        """

    private struct Undone: Error {}

    /// Everything that memory shows of the countries, by each way to it.
    private static func shown(
        _ context: DatabaseContext, _ countries: [DatabaseObject], _ mayors: [DatabaseObject]
    ) async throws -> [String] {
        var shown: [String] = []
        for mayor in mayors {
            let cities = try await mayor.set(forKey: "citySet").objects.map { "\($0["country_code"], default: "-")" }
            shown.append("mayor \(mayor["id"], default: "-") of \(cities.sorted())")
        }
        for country in countries {
            let code = country["code"]
            shown.append("country \(code, default: "-")")
            for city in try await country.set(forKey: "citySet").objects {
                shown.append(
                    "\(code, default: "-") has \(city["country_code"], default: "-").\(city["name"], default: "-")")
                for street in try await city.set(forKey: "streetSet").objects {
                    let owner = try await street.object(forKey: "city")
                    shown.append(
                        "street \(street["id"], default: "-") of \(street["country_code"], default: "-")"
                            + ", \(owner === city)")
                }
            }
            for plate in try await country.set(forKey: "plateSet").objects {
                let owner = try await plate.object(forKey: "country")
                shown.append("plate \(plate["id"], default: "-"), \(owner === country)")
            }
            for language in try await country.set(forKey: "languageSet").objects {
                let speakers = try await language.set(forKey: "countrySet").objects.map { $0["code"] }
                shown.append("language \(language["id"], default: "-") \(speakers)")
            }
        }
        return shown.sorted()
    }

    @Test("memory follows ON UPDATE through three tables, whatever of it is held", .database(.sql(schema)))
    func memoryFollowsOnUpdate() async throws {
        try await withDatabase { database, context, other in
            for held in ["nothing", "cities", "all"] {
                try await other.runScript("UPDATE country SET code = 'a', number = 1 WHERE name = 'A'")
                try await other.runScript("UPDATE plate SET country_number = 1 WHERE id < 3")
                for isSaved in [false, true] {
                    let context = database.makeContext()
                    let countries = try await context.fetch("country").sorted("name").all()
                    let mayors = try await context.fetch("mayor").all()
                    let before = try await Self.shown(context, countries, mayors)
                    var others: [DatabaseObject] = []
                    if held != "nothing" { others += try await context.fetch("city").all() }
                    if held == "all" {
                        for name in ["street", "plate", "language"] { others += try await context.fetch(name).all() }
                    }
                    await #expect(throws: Undone.self) {
                        try await context.transaction {
                            try await countries[0].setValues(["code": "u", "number": 9])
                            _ = try await Self.shown(context, countries, mayors)
                            throw Undone()
                        }
                    }
                    #expect(try await Self.shown(context, countries, mayors) == before, "\(held), undone")
                    if isSaved {
                        countries[0]["code"] = "z"
                        countries[0]["number"] = 8
                        try await context.save()
                    } else {
                        try await countries[0].setValues(["code": "c", "number": 7])
                    }
                    let fresh = database.makeContext()
                    let truth = try await Self.shown(
                        fresh, try await fresh.fetch("country").sorted("name").all(),
                        try await fresh.fetch("mayor").all())
                    let after = try await Self.shown(context, countries, mayors)
                    #expect(after == truth, "\(held), \(isSaved)")
                    #expect(truth != before)
                    for object in others {
                        let row = try await fresh.get(try #require(object.objectID))
                        #expect(row.dictionary == object.dictionary)
                    }
                }
            }
        }
    }

    private static let clubs = """
        CREATE TABLE club (id integer PRIMARY KEY, number integer NOT NULL UNIQUE);
        CREATE TABLE member (id integer PRIMARY KEY);
        CREATE TABLE club_member (
            club_number integer REFERENCES club (number), member_id integer REFERENCES member,
            PRIMARY KEY (club_number, member_id));
        INSERT INTO club VALUES (1, 10);
        INSERT INTO member VALUES (1);
        INSERT INTO club_member VALUES (10, 1);
        """

    @Test("a many-to-many set by another key than the primary one shows a member's new key", .database(.sql(clubs)))
    func aManyToManySetShowsAMemberUnderItsNewKey() async throws {
        try await withDatabase { database, context, other in
            let member = try await context.find("member", 1)!
            let club = try #require(try await member.set(forKey: "clubSet").objects.first)
            try await club.setValue(9, forKey: "id")
            let shown = try await member.set(forKey: "clubSet").objects
            #expect(shown.count == 1 && shown[0] === club)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aStagedMemberKeepsItsPlaceUnderItsNewKey() async throws {
        try await withDatabase { database, context, other in
            let new = try context.add("person")
            let bob = try await context.find("person", 2)!
            _ = try await bob.set(forKey: "emailSet").objects
            let emails = [try await context.find("email", 1)!, try await context.find("email", 2)!]
            try await emails[0].setValue(new, forKey: "person")
            emails[1]["person_id"] = 2
            for (email, id) in zip(emails, [50, 60]) { try await email.setValue(id, forKey: "id") }
            for _ in 0..<2 {
                #expect(try await new.set(forKey: "emailSet").objects == [emails[0]])
                let shown = try await bob.set(forKey: "emailSet").objects
                #expect(shown.count == 2 && shown.contains(emails[1]))
                try await context.save()
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aSetShowsAMemberUnderItsNewKey() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            let bob = try await context.find("person", 2)!
            for person in [ann, bob] { _ = try await person.set(forKey: "emailSet").objects }
            do {
                let email = try await context.find("email", 1)!
                try await email.setValue(50, forKey: "id")
                let shown = try await ann.set(forKey: "emailSet").objects
                #expect(shown.contains { $0 === email } && shown.count == 2)
                #expect(try await ann.set(forKey: "emailSet").contains(email))
            }
            for _ in 0..<2 {
                let ids = try await ann.set(forKey: "emailSet").objects.map { $0["id"] }
                #expect(Set(ids) == [50, 2] && ids.count == 2)
            }
            let moved = try await context.find("email", 2)!
            try await moved.setValues(["id": 60, "person": bob])
            #expect(try await ann.set(forKey: "emailSet").objects.map { $0["id"] } == [50])
            #expect(Set(try await bob.set(forKey: "emailSet").objects.map { $0["id"] }) == [3, 60])
        }
    }

    @Test(
        .database(
            .sql(referenceSchema + "ALTER TABLE email DROP CONSTRAINT email_pkey, ADD PRIMARY KEY (id) DEFERRABLE")))
    func membersCanExchangeTheirKeys() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            let emails = try await ann.set(forKey: "emailSet").objects.sorted { "\($0)" < "\($1)" }
            (emails[0]["id"], emails[1]["id"]) = (2, 1)
            try await context.save()
            #expect(Set(try await ann.set(forKey: "emailSet").objects) == Set(emails))
            #expect(emails.map { $0["id"] } == [2, 1])
            #expect(try await context.find("email", 1) === emails[1])
        }
    }

    @Test(.database(.sql(schema))) func conditionsGoByWhatIsStored() async throws {
        try await withDatabase { database, context, other in
            let countries = try await context.fetch("country").sorted("code").all()
            let plates = try await context.fetch("plate").sorted("id").all()
            countries[0]["number"] = 2
            countries[1]["number"] = 1
            #expect(try await countries[0].set(forKey: "plateSet").objects == [plates[0], plates[1]])
            #expect(
                try await context.fetch("plate").where("country == %@", countries[0]).sorted("id").all()
                    == [plates[0], plates[1]])
            let new = try context.add("country", ["code": "n", "name": "N", "number": 2])
            #expect(try await context.fetch("plate").where("country == %@", new).count() == 0)
            plates[2]["id"] = 30
            #expect(try await countries[1].set(forKey: "plateSet").contains(plates[2]))
            #expect(try await context.fetch("plate").where("country IN %@", [countries[1]]).delete() == 1)
            #expect(try await other.values("SELECT id FROM plate ORDER BY id") == [1, 2])
        }
    }
}
