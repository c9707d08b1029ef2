import Kindred
import TestSupport

/// The schema that conditions are tried on: people with a boss, pets, clubs and a house with a composite key, a badge of
/// their own, and NULLs wherever they may be.
let zooSchema = """
    CREATE TABLE house (street text COLLATE "C", number int, floors int, PRIMARY KEY (street, number));
    CREATE TYPE mood AS ENUM ('glad', 'sad', 'wild');
    CREATE TABLE person (
        id int PRIMARY KEY, name text COLLATE "C", code varchar(20) COLLATE "C" NOT NULL, age int, rank smallint NOT NULL,
        score float8, active bool, mood mood, tags text[] COLLATE "C", boss_id int REFERENCES person,
        street text COLLATE "C", number int, born date, info jsonb, FOREIGN KEY (street, number) REFERENCES house
    );
    CREATE TABLE pet (id bigint PRIMARY KEY, name text COLLATE "C", weight int, owner_id int REFERENCES person);
    CREATE TABLE badge (id int PRIMARY KEY, label text COLLATE "C", person_id int UNIQUE REFERENCES person);
    CREATE TABLE club (id int PRIMARY KEY, name text COLLATE "C");
    CREATE TABLE membership (
        person_id int CONSTRAINT clubs REFERENCES person, club_id int CONSTRAINT members REFERENCES club,
        PRIMARY KEY (person_id, club_id)
    );
    """

final class House {
    let street: String
    let number: Int
    let floors: Int?

    init(street: String, number: Int, floors: Int?) {
        (self.street, self.number, self.floors) = (street, number, floors)
    }
}

final class Pet {
    let id: Int
    let name: String?
    let weight: Int?
    let owner: Person?

    init(id: Int, name: String?, weight: Int?, owner: Person?) {
        (self.id, self.name, self.weight, self.owner) = (id, name, weight, owner)
    }
}

final class Club {
    let id: Int
    let name: String?
    var members: [Person] = []

    init(id: Int, name: String?) {
        (self.id, self.name) = (id, name)
    }
}

final class Person {
    let id: Int
    var name: String?
    var code = ""
    var age: Int?
    var rank = 0
    var score: Double?
    var active: Bool?
    var mood: String?
    var tags: [String?]?
    /// The day of January 2020.
    var born: Int?
    /// A document with a number or a text under `n`, and a text under `in.t`; nil for none.
    var info: (number: Int?, text: String?, isText: Bool)?
    var boss: Person?
    var house: House?
    var badge: String??
    var pets: [Pet] = []
    var clubs: [Club] = []

    init(id: Int) {
        self.id = id
    }
}

/// Random rows of the schema, in memory.
struct Zoo {
    static let names = ["Ann", "ann", "Bob", "a%b", "a_b", "a\\b", "", "Zoë", "x'y", "A*?", "Bo\nb"]
    static let moods = ["glad", "sad", "wild"]

    var houses: [House] = []
    var people: [Person] = []
    var pets: [Pet] = []
    var clubs: [Club] = []

    init(_ random: inout SeededGenerator) {
        func name(_ random: inout SeededGenerator) -> String? {
            Int.random(in: 0..<4, using: &random) == 0 ? nil : Self.names.randomElement(using: &random)
        }
        func number(_ random: inout SeededGenerator) -> Int? {
            Int.random(in: 0..<4, using: &random) == 0 ? nil : Int.random(in: -2...6, using: &random)
        }
        for index in 0..<4 {
            houses.append(House(street: Self.names[index % 2], number: index / 2, floors: number(&random)))
        }
        for id in 1...4 { clubs.append(Club(id: id, name: name(&random))) }
        for id in 1...24 {
            let person = Person(id: id)
            person.name = name(&random)
            person.code = name(&random) ?? "code"
            person.age = number(&random)
            person.rank = number(&random) ?? 0
            person.score = number(&random).map { Double($0) / 2 }
            person.active = [true, false, nil].randomElement(using: &random) ?? nil
            person.mood = [0, 1, 2, 3].randomElement(using: &random).flatMap { $0 < 3 ? Self.moods[$0] : nil }
            person.tags = (0..<Int.random(in: 0..<3, using: &random)).map { _ in name(&random) }
            if Int.random(in: 0..<4, using: &random) == 0 { person.tags = nil }
            if Int.random(in: 0..<4, using: &random) > 0 { person.born = Int.random(in: 5...20, using: &random) }
            if Int.random(in: 0..<4, using: &random) > 0 {
                person.info = (number(&random), name(&random), Int.random(in: 0..<4, using: &random) == 0)
            }
            if Int.random(in: 0..<3, using: &random) > 0 { person.boss = people.randomElement(using: &random) }
            if Bool.random(using: &random) { person.house = houses.randomElement(using: &random) }
            if Bool.random(using: &random) { person.badge = .some(name(&random)) }
            people.append(person)
        }
        for id in 1...40 {
            let owner = Int.random(in: 0..<5, using: &random) == 0 ? nil : people.randomElement(using: &random)
            let pet = Pet(id: id, name: name(&random), weight: number(&random), owner: owner)
            pets.append(pet)
            owner?.pets.append(pet)
        }
        for person in people {
            for club in clubs where Int.random(in: 0..<3, using: &random) == 0 {
                person.clubs.append(club)
                club.members.append(person)
            }
        }
    }

    func store(in client: PostgresClient) async throws {
        for house in houses {
            try await client.query("INSERT INTO house VALUES (\(house.street), \(house.number), \(house.floors))")
        }
        for club in clubs { try await client.query("INSERT INTO club VALUES (\(club.id), \(club.name))") }
        for person in people {
            try await client.query(
                """
                INSERT INTO person VALUES (\(person.id), \(person.name), \(person.code), \(person.age), \(person.rank),
                    \(person.score), \(person.active), \(person.mood), \(person.tags), \(person.boss?.id),
                    \(person.house?.street ?? (person.id % 2 == 0 ? "nowhere" : nil)), \(person.house?.number),
                    DATE '2019-12-31' + \(person.born)::int, CASE WHEN \(person.info != nil) THEN
                        jsonb_build_object('n', CASE WHEN \(person.info?.isText ?? false) THEN to_jsonb('5'::text)
                            ELSE to_jsonb(\(person.info?.number)::int) END,
                            'in', jsonb_build_object('t', \(person.info?.text)::text)) END)
                """
            )
            if let label = person.badge {
                try await client.query("INSERT INTO badge VALUES (\(100 + person.id), \(label), \(person.id))")
            }
            for club in person.clubs {
                try await client.query("INSERT INTO membership VALUES (\(person.id), \(club.id))")
            }
        }
        for pet in pets {
            try await client.query("INSERT INTO pet VALUES (\(pet.id), \(pet.name), \(pet.weight), \(pet.owner?.id))")
        }
    }
}
