-- Counts the changes of a book: a client that changes one says which version it has seen.
ALTER TABLE book ADD version integer NOT NULL DEFAULT 1;
COMMENT ON COLUMN book.version IS '@kindred {"version": true}';
