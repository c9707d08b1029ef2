-- kindred: no transaction
CREATE INDEX CONCURRENTLY person_name ON person (name);
