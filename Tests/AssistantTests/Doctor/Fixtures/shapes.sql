-- Sixty tables in shapes of which the doctor has to tell what is wrong from what is not. Each table that is in order stands
-- beside one that is not; DoctorShapesTests lists what is to be found.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- Tables that inherit: a key of the parent in the child is no reference to the parent, an inherited column keeps its type, and
-- a parent cannot be given a numbered column.
CREATE TABLE place (place_id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE city (population integer, PRIMARY KEY (place_id)) INHERITS (place);
CREATE TABLE asset (label text);
CREATE TABLE vehicle (wheels integer) INHERITS (asset);
CREATE TABLE sensor (sensor_id bigint PRIMARY KEY);
CREATE TABLE reading (reading_id bigint PRIMARY KEY, sensor_id integer REFERENCES sensor);
CREATE INDEX ON reading (sensor_id);
CREATE VIEW reading_count AS SELECT sensor_id, count(*) AS readings FROM reading GROUP BY sensor_id;
CREATE TABLE measure (measure_id bigint PRIMARY KEY, sensor_id integer);
CREATE TABLE fine_measure (PRIMARY KEY (measure_id), FOREIGN KEY (sensor_id) REFERENCES sensor) INHERITS (measure);
CREATE INDEX ON fine_measure (sensor_id);

-- Columns named after tables: numbers of the table's own rows, and references without a foreign key.
CREATE TABLE message (id integer PRIMARY KEY, message_id integer UNIQUE, text text);
CREATE TABLE kind (id smallint PRIMARY KEY, kind_id smallint);
CREATE TABLE author (id integer PRIMARY KEY, name text);
CREATE TABLE note (id integer PRIMARY KEY, author_id integer);
CREATE TABLE employee (id integer PRIMARY KEY);
-- Both foreign keys would have one name of 63 bytes.
CREATE TABLE a_table_whose_name_takes_nearly_all_the_letters_of_names (id integer PRIMARY KEY, employee_id integer, "employeeId" integer);

-- Two foreign keys: pairs, things that refer to others, and a natural key.
CREATE TABLE student (id integer PRIMARY KEY);
CREATE TABLE course (id integer PRIMARY KEY);
CREATE TABLE enrolment (student_id integer REFERENCES student, course_id integer REFERENCES course);
CREATE INDEX ON enrolment (student_id);
CREATE INDEX ON enrolment (course_id);
CREATE TABLE seat (student_id integer REFERENCES student, course_id integer REFERENCES course,
    PRIMARY KEY (student_id, course_id));
CREATE INDEX ON seat (course_id);
CREATE TABLE grading (id integer PRIMARY KEY, student_id integer REFERENCES student, course_id integer REFERENCES course);
CREATE INDEX ON grading (student_id);
CREATE INDEX ON grading (course_id);
CREATE TABLE certificate (code text PRIMARY KEY, student_id integer REFERENCES student, course_id integer REFERENCES course);
CREATE INDEX ON certificate (student_id);
CREATE INDEX ON certificate (course_id);
CREATE TABLE task (id integer PRIMARY KEY, assignee_id integer REFERENCES employee, reporter_id integer REFERENCES employee);
CREATE INDEX ON task (assignee_id);
CREATE INDEX ON task (reporter_id);
CREATE TABLE queue (id integer PRIMARY KEY);
CREATE TABLE ticket (id integer PRIMARY KEY, queue_id integer NOT NULL REFERENCES queue,
    owner_id integer REFERENCES employee);
CREATE INDEX ON ticket (queue_id);
CREATE INDEX ON ticket (owner_id);

-- Versions that count changes, and versions that are numbers of rows.
CREATE TABLE document (id integer PRIMARY KEY, title text, version integer NOT NULL DEFAULT 1);
CREATE TABLE document_version (id integer PRIMARY KEY, document_id integer REFERENCES document, version integer NOT NULL,
    body text);
CREATE INDEX ON document_version (document_id);
CREATE TABLE document_old (old_id integer PRIMARY KEY, id integer, title text, version integer NOT NULL);
CREATE SCHEMA archive;
CREATE TABLE archive.document (LIKE document);
CREATE TABLE release (id integer PRIMARY KEY, product text NOT NULL, version integer NOT NULL, UNIQUE (product, version));
CREATE TABLE price (id integer PRIMARY KEY, amount integer, lock_version integer NOT NULL);
CREATE TABLE schema_info (version integer NOT NULL);
CREATE TABLE review (id integer PRIMARY KEY, document_id integer, author_id integer REFERENCES author);
CREATE INDEX ON review (author_id);

-- Unique keys with NULL.
CREATE TABLE area (id integer PRIMARY KEY);
CREATE TABLE folder (id integer PRIMARY KEY, parent_id integer REFERENCES folder, name text NOT NULL,
    UNIQUE (parent_id, name));
CREATE TABLE tag (id integer PRIMARY KEY, area_id integer REFERENCES area, name text NOT NULL, UNIQUE (area_id, name));
CREATE UNIQUE INDEX tag_root ON tag (name) WHERE area_id IS NULL;
CREATE TABLE setting (id integer PRIMARY KEY, area_id integer REFERENCES area, key text NOT NULL, UNIQUE (area_id, key));
CREATE UNIQUE INDEX setting_each ON setting (COALESCE(area_id, 0), key);
CREATE TABLE invoice (id integer PRIMARY KEY, tenant integer NOT NULL, external_number text,
    UNIQUE (tenant, external_number));
CREATE TABLE badge (id integer PRIMARY KEY, holder text CHECK (holder IS NOT NULL), number integer NOT NULL,
    UNIQUE (holder, number));

-- What is there twice.
CREATE TABLE country (id integer NOT NULL, CONSTRAINT country_unique UNIQUE (id));
CREATE TABLE region (id integer PRIMARY KEY, country_id integer REFERENCES country (id) ON DELETE CASCADE);
CREATE INDEX ON region (country_id);
ALTER TABLE country ADD PRIMARY KEY (id);
COMMENT ON CONSTRAINT region_country_id_fkey ON region IS '@kindred {"inverse": "regions"} of the land';
CREATE TABLE payment (id integer PRIMARY KEY, invoice_id integer,
    CONSTRAINT payment_first FOREIGN KEY (invoice_id) REFERENCES invoice,
    CONSTRAINT payment_second FOREIGN KEY (invoice_id) REFERENCES invoice ON DELETE CASCADE);
CREATE INDEX ON payment (invoice_id);
COMMENT ON CONSTRAINT payment_first ON payment IS '@kindred {"name": "bill"}';
CREATE TABLE slip (id integer PRIMARY KEY, payment_id integer CONSTRAINT slip_now REFERENCES payment);
ALTER TABLE slip ADD CONSTRAINT slip_late FOREIGN KEY (payment_id) REFERENCES payment NOT VALID;
CREATE INDEX ON slip (payment_id);
CREATE TABLE code (id integer PRIMARY KEY, value text);
CREATE INDEX code_value_a ON code (value);
CREATE INDEX code_value_b ON code (value);
CREATE TABLE log_line (id integer PRIMARY KEY, logged_at timestamptz);
CREATE INDEX log_line_at ON log_line (logged_at);
CREATE INDEX log_line_at_id ON log_line (logged_at, id);

-- Ordered sets.
CREATE TABLE playlist (id integer PRIMARY KEY);
CREATE TABLE track (id integer PRIMARY KEY, playlist_id integer REFERENCES playlist, position integer NOT NULL);
COMMENT ON CONSTRAINT track_playlist_id_fkey ON track IS '@kindred {"orderedBy": "position"}';
CREATE TABLE chapter (id integer, playlist_id integer REFERENCES playlist, position integer NOT NULL, lang text,
    PRIMARY KEY (id, lang)) PARTITION BY LIST (lang);
CREATE TABLE chapter_en PARTITION OF chapter FOR VALUES IN ('en');
CREATE INDEX ON chapter (playlist_id);
COMMENT ON CONSTRAINT chapter_playlist_id_fkey ON chapter IS '@kindred {"orderedBy": "position"}';

-- Row security and functions.
CREATE TABLE account (id integer PRIMARY KEY, tenant text, owner text);
ALTER TABLE account ENABLE ROW LEVEL SECURITY;
CREATE POLICY account_read ON account FOR SELECT USING (tenant = current_setting('app.tenant', true));
CREATE POLICY account_all ON account USING (owner = CURRENT_USER);
CREATE TABLE plan (id integer PRIMARY KEY, role text);
ALTER TABLE plan ENABLE ROW LEVEL SECURITY;
CREATE POLICY plan_admin ON plan USING (current_setting('app.role', true) = 'admin');
CREATE POLICY plan_some ON plan AS RESTRICTIVE USING (id > 0);
CREATE TABLE vault (id integer PRIMARY KEY);
ALTER TABLE vault ENABLE ROW LEVEL SECURITY;
CREATE POLICY vault_read ON vault FOR SELECT USING (true);
CREATE POLICY vault_write ON vault FOR INSERT WITH CHECK (true);
CREATE TABLE ledger (id integer PRIMARY KEY);
ALTER TABLE ledger ENABLE ROW LEVEL SECURITY;
CREATE TABLE diary (id integer PRIMARY KEY, text text);
CREATE POLICY diary_own ON diary USING (true);
CREATE FUNCTION next_number() RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION fixed_number() RETURNS integer LANGUAGE sql SET search_path = '' AS 'SELECT 1';
CREATE FUNCTION bound_number() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT 1; END;
CREATE FUNCTION run_as_owner() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';

-- Actions, cycles, names and numbers.
CREATE TABLE shelf (id integer PRIMARY KEY);
CREATE TABLE item (id integer PRIMARY KEY, shelf_id integer NOT NULL REFERENCES shelf ON DELETE SET NULL);
CREATE INDEX ON item (shelf_id);
CREATE TABLE egg (id integer PRIMARY KEY, hen_id integer NOT NULL);
CREATE TABLE hen (id integer PRIMARY KEY, egg_id integer NOT NULL REFERENCES egg);
ALTER TABLE egg ADD FOREIGN KEY (hen_id) REFERENCES hen;
CREATE INDEX ON egg (hen_id);
CREATE INDEX ON hen (egg_id);
CREATE TABLE mixed (id integer PRIMARY KEY, "Name" text, name text);
CREATE TABLE shop (id integer PRIMARY KEY, code text NOT NULL UNIQUE);
CREATE TABLE sale (id integer PRIMARY KEY, shop_code text REFERENCES shop (code));
CREATE INDEX ON sale (shop_code);
CREATE TABLE counter (id smallint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
CREATE VIEW counters AS SELECT id FROM counter;
SELECT setval('counter_id_seq', 31000);
