/// The database that everything is measured on: 1,000 authors, 10,000 books, 100 tags, 30,000 rows of the helper table.
enum Workload {
    static let authors: Int32 = 1_000
    static let books: Int32 = 10_000

    static let scripts = [
        """
        CREATE TABLE author (id int PRIMARY KEY, name text NOT NULL, born int);
        CREATE TABLE book (
            id int PRIMARY KEY,
            author_id int NOT NULL REFERENCES author,
            title text NOT NULL,
            year int,
            price numeric(8, 2)
        );
        CREATE TABLE tag (id int PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE book_tag (
            book_id int REFERENCES book,
            tag_id int REFERENCES tag,
            PRIMARY KEY (book_id, tag_id)
        );
        CREATE TABLE review (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            book_id int NOT NULL REFERENCES book,
            text text NOT NULL,
            stars int
        );
        INSERT INTO author SELECT i, 'Author number ' || i, 1900 + i % 100 FROM generate_series(1, \(authors)) i;
        INSERT INTO book
        SELECT i, (i - 1) % \(authors) + 1, 'The book with the number ' || i, 1950 + i % 70, (i % 5000) / 100.0
        FROM generate_series(1, \(books)) i;
        INSERT INTO tag SELECT i, 'tag ' || i FROM generate_series(1, 100) i;
        INSERT INTO book_tag
        SELECT b, (b * 7 + k * 31) % 100 + 1 FROM generate_series(1, \(books)) b, generate_series(0, 2) k;
        CREATE INDEX ON book (author_id);
        CREATE INDEX ON book_tag (tag_id)
        """,
        // Not possible beside others in one script.
        "VACUUM ANALYZE",
    ]

    static let bookByKey = "SELECT id, author_id, title, year, price FROM book WHERE id = $1"
    static let allAuthors = "SELECT id, name, born FROM author"
    /// Books with the key by which they were asked for, and tags with that of their book.
    static let booksOfAuthors = """
        SELECT id, author_id, title, year, price FROM book WHERE author_id = ANY (ARRAY(SELECT id FROM author))
        """
    static let tagsOfBooks = """
        SELECT t.id, t.name, h.book_id FROM tag t JOIN book_tag h ON h.tag_id = t.id
        WHERE h.book_id = ANY (ARRAY(SELECT id FROM book))
        """
    static let booksOfAuthor = "SELECT id, author_id, title, year, price FROM book WHERE author_id = $1"
    static let insertReviews = """
        INSERT INTO review (book_id, text, stars) SELECT * FROM unnest($1::int[], $2::text[], $3::int[]) RETURNING id
        """
    static let updateBook = "UPDATE book SET year = $2::int WHERE id = $1::int"
    static let allBooks = "SELECT id, author_id, title, year, price FROM book"

    /// Tables of eight columns, each with a key to the one before it and to the one at half its number.
    static func catalogScript(tables: Int) -> String {
        """
        DO $$
        DECLARE
            keys text;
        BEGIN
            FOR i IN 1..\(tables) LOOP
                EXECUTE format('CREATE TABLE t%s (
                    id int PRIMARY KEY, previous_id int, half_id int, name text NOT NULL,
                    amount numeric(12, 2), created timestamptz NOT NULL DEFAULT now(), flag boolean, note text)', i);
                IF i > 1 THEN
                    EXECUTE format('ALTER TABLE t%s ADD FOREIGN KEY (previous_id) REFERENCES t%s', i, i - 1);
                    EXECUTE format('ALTER TABLE t%s ADD FOREIGN KEY (half_id) REFERENCES t%s', i, (i + 1) / 2);
                END IF;
                -- Locks are held until a transaction ends, and the server has room for some thousand.
                IF i % 100 = 0 THEN COMMIT; END IF;
            END LOOP;
        END $$
        """
    }

    /// Tables like those of a large public music catalog: 375 with 770 keys, some of which hold most of them together.
    static let webScript = """
        DO $$
        BEGIN
            FOR i IN 1..375 LOOP
                EXECUTE format('CREATE TABLE w%s (
                    id int PRIMARY KEY, a_id int, b_id int, c_id int, name text NOT NULL, created timestamptz)', i);
                IF i > 1 THEN
                    EXECUTE format('ALTER TABLE w%s ADD FOREIGN KEY (a_id) REFERENCES w%s', i, (i - 1) % 12 + 1);
                    EXECUTE format('ALTER TABLE w%s ADD FOREIGN KEY (b_id) REFERENCES w%s', i, i / 2 + 1);
                END IF;
                IF i % 17 = 0 THEN
                    EXECUTE format('ALTER TABLE w%s ADD FOREIGN KEY (c_id) REFERENCES w1', i);
                END IF;
            END LOOP;
        END $$
        """

    /// What any reader of the catalog has to fetch: columns of tables, and keys.
    static let catalogQueries = [
        """
        SELECT c.oid, c.relname, n.nspname, a.attnum, a.attname, a.atttypid, a.attnotnull, a.atthasdef,
            format_type(a.atttypid, a.atttypmod)
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^(pg_|information_schema$)'
        """,
        """
        SELECT o.conname, o.contype, o.conrelid, o.confrelid, o.conkey, o.confkey, o.confdeltype
        FROM pg_constraint o
        JOIN pg_class c ON c.oid = o.conrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname !~ '^(pg_|information_schema$)'
        """,
    ]
}
