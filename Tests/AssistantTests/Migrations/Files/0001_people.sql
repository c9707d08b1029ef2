CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL);
INSERT INTO person VALUES (1, 'Ada; the first');
