/// Authors, their books, and the books' tags.
let librarySchema = """
    CREATE TABLE author (id integer PRIMARY KEY, name text NOT NULL, country text);
    CREATE TABLE book (
        id integer PRIMARY KEY, title text NOT NULL, price numeric(8, 2), pages integer,
        author_id integer CONSTRAINT author REFERENCES author);
    CREATE TABLE tag (id integer PRIMARY KEY, label text NOT NULL);
    CREATE TABLE book_tag (
        book_id integer CONSTRAINT tags REFERENCES book, tag_id integer CONSTRAINT books REFERENCES tag,
        PRIMARY KEY (book_id, tag_id));
    COMMENT ON CONSTRAINT author ON book IS '@kindred {"inverse": "books"}';
    INSERT INTO author SELECT i, 'Author ' || i, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'FR' ELSE 'DE' END
        FROM generate_series(1, 1200) i;
    INSERT INTO book SELECT i, 'Book ' || i % 50, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 10 END, i % 5,
        CASE WHEN i % 11 = 0 THEN NULL ELSE i % 1200 + 1 END FROM generate_series(1, 3000) i;
    INSERT INTO tag SELECT i, 'Tag ' || i FROM generate_series(1, 20) i;
    INSERT INTO book_tag SELECT i, i % 20 + 1 FROM generate_series(1, 3000) i;
    """
