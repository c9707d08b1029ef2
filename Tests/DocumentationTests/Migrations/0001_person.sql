CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL);
-- "Quotes", \ backslashes, 	tabs, Ærø and 🚲: each byte stays.
COMMENT ON TABLE person IS $$People, "quoted" \ and #{so} on$$;
