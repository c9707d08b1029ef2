import Kindred
import KindredTesting
import Testing

/// A filter may read the column that a set of members writes: cards without a board are not shown.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE board (id integer PRIMARY KEY);
            CREATE TABLE card (id integer PRIMARY KEY, board_id integer REFERENCES board);
            COMMENT ON TABLE card IS '@kindred {"filter": "board_id != nil"}';
            CREATE TABLE label (id integer PRIMARY KEY);
            CREATE TABLE card_label (
                card_id integer REFERENCES card, label_id integer REFERENCES label, PRIMARY KEY (card_id, label_id));
            INSERT INTO board VALUES (1), (2);
            INSERT INTO card VALUES (1, 1), (2, 1), (3, 2);
            INSERT INTO label VALUES (1);
            INSERT INTO card_label VALUES (1, 1), (2, 1), (3, 1);
            """)))
struct LinkFilterTests {
    private static let shown: SQL =
        "SELECT card_id FROM card_label JOIN card ON card.id = card_id WHERE board_id IS NOT NULL ORDER BY card_id"

    @Test func rowsThatLeaveTheirOwnersAreHiddenFromSetsOfPairs() async throws {
        try await withDatabase { _, context, other in
            let cards = try await context.get("label", 1).set(forKey: "cardSet")
            #expect(try await cards.ids == [1, 2, 3])
            // No object has the rows any more.
            try await context.get("board", 1).set(forKey: "cardSet").removeAll()
            #expect(try await other.values(Self.shown) == [3])
            #expect(try await cards.ids == [3])
        }
    }
}
