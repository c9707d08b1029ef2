import Kindred
import KindredTesting
import Testing

/// A line of three tables, and one with two parents; key 1 is in each of them, as nothing keeps it unique over several tables.
let inheritanceSchema = """
    CREATE TABLE place (id int PRIMARY KEY, name text NOT NULL, visits int);
    CREATE TABLE city (PRIMARY KEY (id), mayor text) INHERITS (place);
    CREATE TABLE capital (PRIMARY KEY (id), country text) INHERITS (city);
    CREATE TABLE port (PRIMARY KEY (id), depth int) INHERITS (place);
    CREATE TABLE seaport (PRIMARY KEY (id)) INHERITS (city, port);
    CREATE TABLE visit (id int PRIMARY KEY, label text, place_id int REFERENCES place);
    CREATE TABLE tag (id int PRIMARY KEY, name text);
    CREATE TABLE place_tag (
        place_id int REFERENCES place, tag_id int REFERENCES tag, PRIMARY KEY (place_id, tag_id));
    CREATE TABLE sign (id int PRIMARY KEY, place_id int UNIQUE REFERENCES place);
    INSERT INTO place VALUES (1, 'place 1', 0), (2, 'place 2', 0);
    INSERT INTO city VALUES (1, 'city 1', 0, 'Ann'), (2, 'city 2', 0, 'Bob'), (3, 'city 3', 0, 'Cid');
    INSERT INTO capital VALUES (1, 'capital 1', 0, 'Dot', 'Utopia'), (4, 'capital 4', 0, 'Eve', 'Oz');
    INSERT INTO port VALUES (1, 'port 1', 0, 5);
    INSERT INTO seaport VALUES (1, 'seaport 1', 0, 'Fay', 9), (5, 'seaport 5', 0, 'Gil', 8);
    INSERT INTO visit VALUES (1, 'first', 1), (2, 'second', 1), (3, 'third', 2), (4, 'fourth', NULL);
    INSERT INTO tag VALUES (1, 'old'), (2, 'new');
    INSERT INTO place_tag VALUES (1, 1), (2, 1);
    INSERT INTO sign VALUES (1, 1), (2, NULL);
    """

/// The rows of all tables as another connection sees them: table, key, name, number of visits.
func placeRows(_ client: PostgresClient) async throws -> [String] {
    try await client.query(
        """
        SELECT tableoid::regclass::text || ' ' || id || ' ' || name || ' ' || coalesce(visits::text, '-')
        FROM place ORDER BY 1
        """
    ).map { try $0.decode(0, as: String.self) ?? "" }
}

/// The object of a row that is read through an entity, which has names like `city 1` in its table of that name.
func row(_ name: String, as entity: String, _ context: DatabaseContext) async throws -> DatabaseObject {
    try await context.fetch(entity).where("name = %@", name).one()
}
