import KindredAssistant

// Schemas that look like a finding and are none, beside schemas with the finding.
extension DoctorRulesTests {
    static let neighbourExamples: [Example] = indexNeighbours + relationshipNeighbours + keyNeighbours

    private static let indexNeighbours = [
        Example(
            rule: "K102",
            sql: """
                CREATE TABLE t (a integer NOT NULL, b integer NOT NULL, CONSTRAINT leaned_on UNIQUE (a, b));
                CREATE TABLE r (x integer, y integer,
                    CONSTRAINT r_t FOREIGN KEY (x, y) REFERENCES t (b, a) ON DELETE SET NULL DEFERRABLE);
                CREATE TABLE q (x integer, y integer, n integer, FOREIGN KEY (x, y) REFERENCES t (a, b)) PARTITION BY LIST (n);
                CREATE TABLE q_1 PARTITION OF q FOR VALUES IN (1);
                ALTER TABLE t ADD PRIMARY KEY (a, b); INSERT INTO t VALUES (1, 2); INSERT INTO r VALUES (2, 1);
                CREATE TABLE u (a integer NOT NULL, CONSTRAINT one UNIQUE (a)); CREATE TABLE s (a integer REFERENCES u (a));
                ALTER TABLE u ADD CONSTRAINT two UNIQUE (a);
                """,
            keys: ["K102:public.t.leaned_on", "K102:public.u.two"], text: "q_x_y_fkey, r_t")
    ]

    private static let relationshipNeighbours = [
        Example(
            rule: "K202",
            sql: """
                CREATE TABLE p (id bigint PRIMARY KEY);
                CREATE TABLE shown (a integer REFERENCES p); CREATE VIEW v AS SELECT a FROM shown;
                CREATE TABLE guarded (a integer REFERENCES p); CREATE POLICY own ON guarded USING (a > 0);
                CREATE TABLE doubled (a integer REFERENCES p, b integer GENERATED ALWAYS AS (a * 2) STORED);
                CREATE TABLE watched (a integer REFERENCES p);
                CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
                CREATE TRIGGER g BEFORE UPDATE OF a ON watched FOR EACH ROW EXECUTE FUNCTION f();
                CREATE TABLE counted (a integer REFERENCES p);
                CREATE FUNCTION n() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(a) FROM counted; END;
                CREATE TABLE base (a integer); CREATE TABLE child (FOREIGN KEY (a) REFERENCES p) INHERITS (base);
                CREATE TABLE upper (a integer REFERENCES p); CREATE TABLE lower () INHERITS (upper);
                CREATE VIEW w AS SELECT a FROM lower;
                CREATE TABLE parted (a integer REFERENCES p) PARTITION BY LIST (a);
                CREATE TYPE shape AS (a integer); CREATE TABLE typed OF shape; ALTER TABLE typed ADD FOREIGN KEY (a) REFERENCES p;
                """,
            keys: [
                "K202:public.child.child_a_fkey", "K202:public.counted.counted_a_fkey",
                "K202:public.doubled.doubled_a_fkey",
                "K202:public.guarded.guarded_a_fkey", "K202:public.parted.parted_a_fkey",
                "K202:public.shown.shown_a_fkey",
                "K202:public.typed.typed_a_fkey", "K202:public.upper.upper_a_fkey",
                "K202:public.watched.watched_a_fkey",
            ],
            isRepairable: false, text: "view v"),
        Example(
            rule: "K202",
            sql: """
                CREATE TABLE p (id bigint PRIMARY KEY);
                CREATE TABLE beside (a integer REFERENCES p, b integer CHECK (b > 0), CHECK (a > 0)); CREATE INDEX ON beside (a);
                CREATE VIEW v AS SELECT b FROM beside;
                CREATE TABLE upper (a integer REFERENCES p); CREATE TABLE lower () INHERITS (upper);
                """,
            keys: ["K202:public.beside.beside_a_fkey", "K202:public.upper.upper_a_fkey"]),
        Example(
            rule: "K209",
            sql: """
                CREATE TABLE a (id integer PRIMARY KEY); CREATE TABLE b (id integer PRIMARY KEY);
                CREATE TABLE natural_key (code text PRIMARY KEY, x integer REFERENCES a, y integer REFERENCES b);
                CREATE TABLE two_parts (season integer, number integer, x integer REFERENCES a, y integer REFERENCES b,
                    PRIMARY KEY (season, number));
                CREATE TABLE task (id integer PRIMARY KEY, assignee_id integer REFERENCES a, reporter_id integer REFERENCES a);
                CREATE TABLE ticket (id integer PRIMARY KEY, queue integer NOT NULL REFERENCES a, owner integer REFERENCES b);
                CREATE TABLE booking (id integer PRIMARY KEY, x integer REFERENCES a, y integer REFERENCES b);
                CREATE TABLE bill (id integer PRIMARY KEY, booking integer REFERENCES booking);
                CREATE TABLE link (id uuid PRIMARY KEY, x integer NOT NULL REFERENCES a, y integer NOT NULL REFERENCES b);
                """,
            keys: ["K209:public.link"], level: .note, text: "if its rows are pairs"),
        Example(
            rule: "K209",
            sql: """
                CREATE TABLE a (id integer PRIMARY KEY);
                CREATE TABLE friendship (x integer REFERENCES a, y integer REFERENCES a);
                """,
            keys: ["K209:public.friendship"], level: .warning),
        Example(
            rule: "K210",
            sql: """
                CREATE TABLE place (place_id integer PRIMARY KEY); CREATE TABLE city () INHERITS (place);
                CREATE TABLE village (id integer PRIMARY KEY, place_id integer) ;
                CREATE TABLE message (id integer PRIMARY KEY, message_id integer);
                CREATE TABLE kinds (kind_id smallint, number smallint PRIMARY KEY);
                CREATE TABLE doc (id integer PRIMARY KEY, kind_id smallint, author_id integer);
                CREATE TABLE author (id integer PRIMARY KEY); CREATE UNLOGGED TABLE session (id integer PRIMARY KEY);
                CREATE TABLE run (id integer PRIMARY KEY, session_id integer);
                CREATE UNLOGGED TABLE click (id integer PRIMARY KEY, session_id integer);
                CREATE TABLE doc_old (old integer PRIMARY KEY, id integer, kind_id smallint, author_id integer);
                """,
            keys: ["K210:public.click.session_id", "K210:public.doc.author_id", "K210:public.doc.kind_id"], level: .note
        ),
        Example(
            rule: "K222",
            sql: """
                CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE base (a integer NOT NULL);
                CREATE TABLE child (FOREIGN KEY (a) REFERENCES p ON DELETE SET NULL) INHERITS (base);
                """,
            keys: ["K222:public.child.child_a_fkey"], level: .error, isRepairable: false),
    ]

    private static let keyNeighbours = [
        Example(
            rule: "K411",
            sql: """
                CREATE TABLE plan (id uuid PRIMARY KEY, tenant_id integer, old_tenant_id integer, label text);
                CREATE UNIQUE INDEX named_alike ON plan ((old_tenant_id + 1));
                CREATE UNIQUE INDEX in_text ON plan ((label || 'tenant_id'));
                CREATE UNIQUE INDEX named ON plan ((tenant_id + 1));
                """,
            keys: ["K411:public.plan.in_text", "K411:public.plan.named_alike"], isRepairable: false,
            tenantColumn: "tenant_id"),
        Example(
            rule: "K301",
            sql: """
                CREATE TABLE base (x integer); CREATE TABLE child (PRIMARY KEY (x)) INHERITS (base);
                CREATE TYPE shape AS (x integer); CREATE TABLE typed OF shape;
                """,
            keys: ["K301:public.base", "K301:public.typed"], isRepairable: false),
        Example(
            rule: "K301",
            sql: """
                CREATE TABLE late (x integer NOT NULL, UNIQUE (x) DEFERRABLE);
                CREATE TABLE some_rows (x integer NOT NULL); CREATE UNIQUE INDEX ON some_rows (x) WHERE x > 0;
                CREATE TABLE shorter (x text NOT NULL); CREATE UNIQUE INDEX ON shorter (lower(x));
                CREATE TABLE bytes (x text NOT NULL); CREATE UNIQUE INDEX ON bytes (x text_pattern_ops);
                CREATE TABLE wide (x integer NOT NULL, y integer); CREATE UNIQUE INDEX ON wide (x) INCLUDE (y);
                """,
            keys: ["K301:public.shorter", "K301:public.some_rows"]),
        Example(
            rule: "K302",
            sql: """
                CREATE TABLE p (id integer PRIMARY KEY);
                CREATE TABLE partial (a integer NOT NULL, b integer, UNIQUE (a, b));
                CREATE UNIQUE INDEX ON partial (a) WHERE b IS NULL;
                CREATE TABLE coalesced (a integer NOT NULL, b text, c date, UNIQUE (a, b, c));
                CREATE UNIQUE INDEX ON coalesced (a, COALESCE(b, ''), COALESCE(c, '1900-01-01'));
                CREATE TABLE pair (a integer, b integer, UNIQUE (a, b));
                CREATE UNIQUE INDEX ON pair (a) WHERE b IS NULL; CREATE UNIQUE INDEX ON pair (b) WHERE a IS NULL;
                CREATE TABLE checked (a integer NOT NULL, b integer, UNIQUE (a, b), CHECK (b > 0 AND b IS NOT NULL));
                CREATE TABLE wide (a integer NOT NULL, b integer, UNIQUE (a, b)); CREATE UNIQUE INDEX ON wide (a);
                CREATE TABLE external (tenant integer NOT NULL REFERENCES p, number text, UNIQUE (tenant, number));
                CREATE TABLE other (a integer NOT NULL, b integer, c integer, UNIQUE (a, b));
                CREATE UNIQUE INDEX ON other (a, c) WHERE b IS NULL; CREATE UNIQUE INDEX ON other (a) WHERE b IS NULL AND c > 0;
                CREATE UNIQUE INDEX ON other (a, lower(b::text)); CREATE INDEX ON other (a) WHERE b IS NULL;
                CREATE TABLE step (p integer REFERENCES p, place integer NOT NULL, UNIQUE (p, place));
                COMMENT ON CONSTRAINT step_p_fkey ON step IS '@kindred {"orderedBy": "place"}';
                CREATE TABLE loose_check (a integer NOT NULL, b integer, UNIQUE (a, b), CHECK (b > 0 OR a IS NOT NULL));
                """,
            keys: [
                "K302:public.external.external_tenant_number_key", "K302:public.loose_check.loose_check_a_b_key",
                "K302:public.other.other_a_b_key", "K302:public.pair.pair_a_b_key",
            ],
            level: .note, isRepairable: false),
        Example(
            rule: "K303",
            sql: """
                CREATE TABLE p (id smallint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY); CREATE VIEW v AS SELECT id FROM p;
                SELECT setval('p_id_seq', 31000);
                """,
            keys: ["K303:public.p.id"], level: .error, isRepairable: false),
        Example(
            rule: "K502",
            sql: """
                CREATE TABLE p (id integer PRIMARY KEY);
                CREATE TABLE t (p_id integer REFERENCES p, place integer, kind text) PARTITION BY LIST (kind);
                COMMENT ON CONSTRAINT t_p_id_fkey ON t IS '@kindred {"orderedBy": "place"}';
                """,
            keys: ["K502:public.t.t_p_id_fkey"], isRepairable: false),
        Example(
            rule: "K502",
            sql: """
                CREATE TABLE p (id integer PRIMARY KEY);
                CREATE TABLE t (p_id integer REFERENCES p, place integer) PARTITION BY LIST (p_id);
                COMMENT ON CONSTRAINT t_p_id_fkey ON t IS '@kindred {"orderedBy": "place"}';
                """,
            keys: ["K502:public.t.t_p_id_fkey"]),
        Example(
            rule: "K503",
            sql: """
                CREATE TABLE doc (id integer PRIMARY KEY, title text, version integer NOT NULL);
                CREATE TABLE doc_versions (id integer PRIMARY KEY, doc integer, version integer NOT NULL);
                CREATE TABLE "docHistory" (id integer PRIMARY KEY, doc integer, version integer NOT NULL);
                CREATE TABLE old_doc (number integer PRIMARY KEY, id integer, title text, version integer NOT NULL);
                CREATE SCHEMA audit;
                CREATE TABLE audit.doc (number integer PRIMARY KEY, at date, id integer, title text, version integer NOT NULL);
                CREATE TABLE release (id integer PRIMARY KEY, product text, version integer NOT NULL);
                CREATE UNIQUE INDEX ON release (product, version) WHERE product IS NOT NULL;
                CREATE TABLE info (version integer NOT NULL);
                CREATE TABLE doc_note (id integer PRIMARY KEY, title text, version integer NOT NULL);
                CREATE TABLE conversion (id integer PRIMARY KEY, lock_version integer NOT NULL);
                """,
            keys: ["K503:public.conversion.lock_version", "K503:public.doc.version", "K503:public.doc_note.version"],
            level: .note),
    ]
}
