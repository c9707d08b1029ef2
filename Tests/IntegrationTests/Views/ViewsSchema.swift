/// People with emails, titles and profiles, and views of all of them.
let viewsSchema = """
    CREATE TABLE person (
        id int PRIMARY KEY, name text NOT NULL, active boolean NOT NULL DEFAULT true);
    CREATE TABLE email (id int PRIMARY KEY, address text NOT NULL, person_id int REFERENCES person);
    CREATE TABLE profile (id int PRIMARY KEY REFERENCES person, text text);
    CREATE TABLE title (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person_title (
        person_id int REFERENCES person, title_id int REFERENCES title, PRIMARY KEY (person_id, title_id));

    CREATE VIEW person_v AS SELECT id, name FROM person;
    CREATE VIEW active_person AS SELECT name, id AS number FROM person WHERE active;
    CREATE VIEW email_v AS SELECT * FROM email;
    CREATE VIEW letterbox AS SELECT address, id AS box, person_id AS owner_id FROM email_v;
    CREATE VIEW email_count AS SELECT person_id, count(*) AS n FROM email GROUP BY person_id;
    CREATE VIEW email_joined AS
        SELECT e.id, e.person_id, p.name FROM email AS e LEFT JOIN person AS p ON p.id = e.person_id;
    COMMENT ON VIEW email_joined IS '@kindred {"key": "id"}';
    CREATE VIEW profile_v AS SELECT id, text FROM profile;
    CREATE VIEW title_v AS SELECT id, name FROM title WHERE name <> 'hidden';

    INSERT INTO person VALUES (1, 'Ann', true), (2, 'Bob', true), (3, 'Cid', false);
    INSERT INTO email VALUES (1, 'a1', 1), (2, 'a2', 1), (3, 'b1', 2), (4, 'none', NULL), (5, 'c1', 3);
    INSERT INTO profile VALUES (1, 'of Ann');
    INSERT INTO title VALUES (1, 'Dr'), (2, 'Prof'), (3, 'hidden');
    INSERT INTO person_title VALUES (1, 1), (1, 3), (2, 1), (2, 2);
    """
