import Kindred
import KindredTesting
import Testing

@Suite struct InheritanceTests {
    private static let schema = """
        CREATE TABLE place (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE city (PRIMARY KEY (id), mayor text) INHERITS (place);
        CREATE TABLE visit (id int PRIMARY KEY, place_id int REFERENCES place)
        ;
        INSERT INTO place VALUES (1, 'Zoo');
        INSERT INTO city VALUES (1, 'Bonn', 'Ann');
        INSERT INTO visit VALUES (1, 1);
        """

    @Test(.database(.sql(schema))) func tablesInherit() async throws {
        try await withShop(classes: []) { _, context, sent in
            // block: inheritance
            let places = try await context.fetch("place").sorted("name").all()
            for place in places { print(place.objectID?.uri ?? "") }
            // end
            let uris = places.map { $0.objectID?.uri ?? "" }.joined(separator: " ")
            let expected = """
                kindred:/public/place?id=1&tableoid=public.city
                kindred:/public/place?id=1
                """
            #expect(uris == expected.inOneLine)
            do {
                // block: inheritance-find
                let place = try await context.find("place", 1)
                // end
                #expect(place === places[1])
            }
            let visit = try await context.fetch("visit").one()
            #expect(try await visit.object(forKey: "place") === places[1])
            await expectError(
                .wrongType,
                """
                kindred:/public/place?id=1&tableoid=public.city cannot be used for "place": foreign keys refer to the rows of
                public.place alone, not to those of tables that inherit from it
                """
            ) {
                try await visit.setValue(places[0], forKey: "place")
            }
        }
    }
}
