import Kindred
import KindredTesting
import Testing

/// New pairs with a number that the server gives are stored in the order of the call; others in the fixed order of their keys.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE person (id integer PRIMARY KEY);
            CREATE TABLE team (id integer PRIMARY KEY);
            CREATE TABLE membership (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person_id integer NOT NULL REFERENCES person,
                team_id integer NOT NULL REFERENCES team, UNIQUE (person_id, team_id));
            INSERT INTO person VALUES (1);
            INSERT INTO team VALUES (1), (2), (3);
            """)))
struct PairOrderTests {
    enum Way: CaseIterable {
        case union, replacement, save

        func join(_ person: DatabaseObject, _ teams: [DatabaseObject], in context: DatabaseContext) async throws {
            let set = try await person.set(forKey: "teamSet")
            switch self {
            case .union: try await set.formUnion(teams)
            case .replacement: try await set.set(teams)
            case .save:
                let new = try context.add("person", ["id": 2])
                for team in teams { try await new.set(forKey: "teamSet").insert(team) }
                try await context.save()
            }
        }
    }

    @Test(arguments: Way.allCases) func numbersFollowTheOrderOfTheCall(_ way: Way) async throws {
        try await withDatabase { (_, context, other) async throws in
            let person = try await context.get("person", 1)
            let teams = try await context.fetch("team").sorted("id").all()
            try await way.join(person, [teams[1], teams[2], teams[0]], in: context)
            #expect(
                try await other.value("SELECT string_agg(team_id::text, ' ' ORDER BY id) FROM membership") == "2 3 1")
        }
    }
}
