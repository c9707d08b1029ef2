import KindredDoctor

// For each rule a schema that breaks it.
extension DoctorRulesTests {
    static let examples: [Example] =
        lintExamples + neighbourExamples + [
            Example(
                rule: "K102",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY, a integer UNIQUE, b text);
                    CREATE INDEX one ON t (a, b); CREATE INDEX two ON t (a, b); CREATE INDEX three ON t (a, b DESC);
                    CREATE INDEX four ON t (a, b) WHERE a > 0; CREATE INDEX five ON t (a, b) INCLUDE (id);
                    CREATE INDEX six ON t (a, b text_pattern_ops); CREATE INDEX seven ON t USING hash (b);
                    CREATE INDEX eight ON t (a); CREATE UNIQUE INDEX nine ON t (a) WHERE b IS NULL;
                    """,
                keys: ["K102:public.t.eight", "K102:public.t.two"]),
            Example(
                rule: "K102",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY); ALTER TABLE t ADD CONSTRAINT again UNIQUE (id);
                    CREATE TABLE r (id integer REFERENCES t (id), a integer, CONSTRAINT first UNIQUE (a));
                    ALTER TABLE r ADD CONSTRAINT last UNIQUE (a);
                    CREATE TABLE late (a integer NOT NULL, CONSTRAINT now UNIQUE (a), CONSTRAINT later UNIQUE (a) DEFERRABLE);
                    """,
                keys: ["K102:public.r.last", "K102:public.t.again"], text: "repeats"),
            Example(
                rule: "K103",
                sql: """
                    CREATE TABLE t (a integer, b integer, c integer, PRIMARY KEY (a, b));
                    CREATE INDEX short ON t (a); CREATE INDEX other ON t (b); CREATE INDEX longer ON t (b, c);
                    CREATE INDEX down ON t (b DESC); CREATE INDEX part ON t (b) WHERE c > 0;
                    CREATE UNIQUE INDEX alone ON t (b) WHERE c = 1; CREATE INDEX with_c ON t (a) INCLUDE (c);
                    """,
                keys: ["K103:public.t.other", "K103:public.t.short"], text: "the first ones of"),
            Example(
                rule: "K105",
                sql: """
                    CREATE TABLE t (a integer, b integer) PARTITION BY LIST (b);
                    CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1);
                    CREATE TABLE t_2 PARTITION OF t FOR VALUES IN (2);
                    CREATE INDEX half ON ONLY t (a); CREATE INDEX half_1 ON t_1 (a);
                    ALTER INDEX half ATTACH PARTITION half_1;
                    """,
                keys: ["K105:public.t.half"], level: .error, text: "t_2"),
            Example(
                rule: "K201",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY, b integer UNIQUE);
                    CREATE TABLE t (a integer CONSTRAINT first REFERENCES p, CONSTRAINT second FOREIGN KEY (a) REFERENCES p
                        ON DELETE CASCADE, CONSTRAINT other FOREIGN KEY (a) REFERENCES p (b));
                    """,
                keys: ["K201:public.t.first"], text: "repeats second"),
            Example(
                rule: "K202",
                sql: """
                    CREATE TABLE p (id bigint PRIMARY KEY, code varchar(8) UNIQUE, mark text COLLATE "C" UNIQUE);
                    CREATE DOMAIN number AS bigint;
                    CREATE TABLE t (a integer CONSTRAINT narrow REFERENCES p, b bigint REFERENCES p, c number REFERENCES p,
                        d text REFERENCES p (code), e text CONSTRAINT sorted REFERENCES p (mark));
                    """,
                keys: ["K202:public.t.narrow", "K202:public.t.sorted"], text: "a is integer, id is bigint"),
            Example(
                rule: "K203",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE t (a integer, b integer REFERENCES p);
                    ALTER TABLE t ADD CONSTRAINT later FOREIGN KEY (a) REFERENCES p NOT VALID;
                    """,
                keys: ["K203:public.t.later"], text: "SELECT * FROM \"public\".\"t\" AS r WHERE r.\"a\" IS NOT NULL"),
            Example(
                rule: "K205",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY, code integer UNIQUE, UNIQUE (code, id));
                    CREATE TABLE q (code integer UNIQUE NOT NULL);
                    CREATE TABLE t (a integer CONSTRAINT other REFERENCES p (code), b integer REFERENCES p,
                        c integer REFERENCES q (code), FOREIGN KEY (a, b) REFERENCES p (code, id));
                    """,
                keys: ["K205:public.t.other"], level: .note, isRepairable: false),
            Example(
                rule: "K206",
                sql: """
                    CREATE TABLE person (id integer PRIMARY KEY);
                    CREATE TABLE message (id integer PRIMARY KEY, sender_id integer REFERENCES person,
                        receiver_id integer REFERENCES person);
                    COMMENT ON CONSTRAINT message_sender_id_fkey ON message IS 'who wrote it';
                    """,
                keys: ["K206:public.message.person", "K206:public.person.messageSet"], level: .note,
                text: "sender (message_sender_id_fkey)"),
            Example(
                rule: "K207",
                sql: """
                    CREATE TABLE parent (id integer PRIMARY KEY, child integer, "childSet" integer, "a_childSet" integer);
                    CREATE TABLE child (id integer PRIMARY KEY, a integer REFERENCES parent);
                    """,
                keys: ["K207:public.parent.public_child_child_a_fkey"], level: .warning),
            Example(
                rule: "K208",
                sql: """
                    CREATE TABLE a (id integer PRIMARY KEY); CREATE TABLE b (id integer PRIMARY KEY);
                    CREATE TABLE h (x integer REFERENCES a, y integer REFERENCES b, PRIMARY KEY (x, y),
                        CONSTRAINT again FOREIGN KEY (y) REFERENCES a);
                    COMMENT ON TABLE h IS 'It''s a helper';
                    """,
                keys: ["K208:public.h"]),
            Example(
                rule: "K209",
                sql: """
                    CREATE TABLE a (id integer PRIMARY KEY); CREATE TABLE b (id integer PRIMARY KEY);
                    CREATE TABLE h (x integer REFERENCES a, y integer REFERENCES b);
                    CREATE TABLE s (id integer PRIMARY KEY, x integer REFERENCES a, y integer REFERENCES b);
                    CREATE TABLE good (x integer REFERENCES a, y integer REFERENCES b, PRIMARY KEY (x, y));
                    CREATE TABLE more (x integer REFERENCES a, y integer REFERENCES b, z integer);
                    """,
                keys: ["K209:public.h", "K209:public.s"]),
            Example(
                rule: "K210",
                sql: """
                    CREATE TABLE person (id integer PRIMARY KEY); CREATE TABLE entries (id bigint PRIMARY KEY);
                    CREATE TABLE note (id integer PRIMARY KEY, person_id integer, "entryId" bigint, other_id integer,
                        entry_id integer, note_id integer REFERENCES note);
                    """,
                keys: ["K210:public.note.entryId", "K210:public.note.person_id"], level: .note),
            Example(
                rule: "K211",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY);
                    CREATE TABLE t (a integer, b integer) PARTITION BY LIST (b);
                    CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t_2 PARTITION OF t FOR VALUES IN (2);
                    ALTER TABLE t_1 ADD CONSTRAINT one FOREIGN KEY (a) REFERENCES p ON DELETE CASCADE;
                    ALTER TABLE t_2 ADD CONSTRAINT two FOREIGN KEY (a) REFERENCES p ON DELETE CASCADE;
                    """,
                keys: ["K211:public.t.one, two"]),
            Example(
                rule: "K221",
                sql: """
                    CREATE TABLE a (id integer PRIMARY KEY, b integer NOT NULL, own integer NOT NULL REFERENCES a);
                    CREATE TABLE b (id integer PRIMARY KEY, c integer NOT NULL);
                    CREATE TABLE c (id integer PRIMARY KEY, a integer NOT NULL REFERENCES a, b integer NOT NULL REFERENCES b);
                    ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b; ALTER TABLE b ADD FOREIGN KEY (c) REFERENCES c;
                    CREATE TABLE x (id integer PRIMARY KEY, y integer NOT NULL);
                    CREATE TABLE y (id integer PRIMARY KEY, x integer REFERENCES x);
                    ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES y;
                    """,
                keys: ["K221:public.a"], level: .error, text: "public.a, public.b, public.c"),
            Example(
                rule: "K222",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE p2 (t integer, id integer, PRIMARY KEY (t, id));
                    CREATE TABLE t (a integer NOT NULL CONSTRAINT plain REFERENCES p ON DELETE SET NULL,
                        b integer REFERENCES p ON DELETE SET NULL,
                        c integer NOT NULL CONSTRAINT defaulted REFERENCES p ON DELETE SET DEFAULT,
                        d integer NOT NULL DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT);
                    CREATE TABLE k (t integer, n integer, a integer, PRIMARY KEY (t, n),
                        CONSTRAINT tenant FOREIGN KEY (t, a) REFERENCES p2 ON DELETE SET NULL);
                    CREATE TABLE s (id integer PRIMARY KEY CONSTRAINT shared REFERENCES p ON DELETE SET NULL);
                    """,
                keys: [
                    "K222:public.k.tenant", "K222:public.s.shared", "K222:public.t.defaulted", "K222:public.t.plain",
                ],
                level: .error),
            Example(
                rule: "K223",
                sql: "CREATE TABLE t0 (id integer PRIMARY KEY); "
                    + (1...11).map {
                        "CREATE TABLE t\($0) (id integer PRIMARY KEY REFERENCES t\($0 - 1) ON DELETE CASCADE);"
                    }
                    .joined(),
                keys: ["K223:public.t0"], level: .note, isRepairable: false, text: "reaches 11 tables"),
            Example(
                rule: "K301",
                sql: """
                    CREATE TABLE a (x integer); CREATE TABLE b (x integer NOT NULL, y integer); CREATE UNIQUE INDEX b_x ON b (x);
                    CREATE TABLE c (x integer NOT NULL UNIQUE); CREATE TABLE d (x integer UNIQUE);
                    """,
                keys: ["K301:public.a", "K301:public.d"]),
            Example(
                rule: "K302",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY);
                    CREATE TABLE t (a integer NOT NULL, b integer REFERENCES p, CONSTRAINT loose UNIQUE (a, b), c integer UNIQUE,
                        d integer NOT NULL, CONSTRAINT tight UNIQUE (a, d));
                    """,
                keys: ["K302:public.t.loose"], level: .note, text: "b may be NULL"),
            Example(
                rule: "K303",
                sql: """
                    CREATE TABLE p (id smallint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
                    CREATE TABLE s (id serial PRIMARY KEY, p_id smallint REFERENCES p);
                    CREATE TABLE fine (id serial PRIMARY KEY);
                    SELECT setval('p_id_seq', 31000), setval('s_id_seq', 1600000000), setval('fine_id_seq', 1000000000);
                    """,
                keys: ["K303:public.p.id", "K303:public.s.id"], text: "94 %"),
            Example(
                rule: "K304",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY, a integer); CREATE VIEW good AS SELECT * FROM t;
                    CREATE VIEW bad AS SELECT a, count(*) FROM t GROUP BY a;
                    """,
                keys: ["K304:public.bad"], level: .note, isRepairable: false),
            Example(
                rule: "K311",
                sql: """
                    CREATE TABLE "Person" (id integer PRIMARY KEY); CREATE TABLE person (id integer PRIMARY KEY, "Id" integer);
                    """,
                keys: ["K311:public.Person", "K311:public.person.id"], level: .note, isRepairable: false),
            Example(
                rule: "K312",
                sql: "CREATE TABLE a234567890123456789012345678901234567890123456789012345678901234 (id integer);",
                keys: ["K312:public.a23456789012345678901234567890123456789012345678901234567890123"], level: .note,
                isRepairable: false),
            Example(
                rule: "K401", sql: "GRANT CREATE ON SCHEMA public TO PUBLIC;", keys: ["K401:public"]),
            Example(
                rule: "K402",
                sql: """
                    CREATE FUNCTION bad(x integer, text) RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
                    CREATE FUNCTION good() RETURNS integer LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS 'SELECT 1';
                    CREATE FUNCTION plain() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                    CREATE PROCEDURE also() LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
                    """,
                keys: ["K402:public.also()", "K402:public.bad(x integer, text)"]),
            Example(
                rule: "K403",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
                    CREATE TABLE u (id integer PRIMARY KEY); ALTER TABLE u ENABLE ROW LEVEL SECURITY;
                    CREATE POLICY everybody ON u USING (true);
                    """,
                keys: ["K403:public.t"], isRepairable: false),
            Example(
                rule: "K404",
                sql: "CREATE TABLE t (id integer PRIMARY KEY); CREATE POLICY nobody ON t USING (false);",
                keys: ["K404:public.t"], text: "nobody"),
            Example(
                rule: "K405",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY, tenant text, note text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
                    CREATE POLICY each_row ON t USING (tenant = current_setting('app.tenant') OR note = 'current_setting(')
                        WITH CHECK (tenant = current_setting('app.' || 'tenant', true));
                    CREATE POLICY once ON t USING (tenant = (SELECT current_setting('app.tenant')));
                    """,
                keys: ["K405:public.t.each_row"], level: .note),
            Example(
                rule: "K406",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
                    CREATE VIEW bad AS SELECT * FROM t; CREATE VIEW good WITH (security_invoker = on) AS SELECT * FROM t;
                    CREATE TABLE u (id integer PRIMARY KEY); CREATE VIEW other AS SELECT * FROM u;
                    """,
                keys: ["K406:public.bad"], text: "public.t"),
            Example(
                rule: "K413",
                sql: """
                    CREATE SCHEMA acme;
                    CREATE TABLE acme.t (id integer PRIMARY KEY);
                    CREATE FUNCTION acme.bad(x integer) RETURNS integer LANGUAGE sql AS 'SELECT x';
                    CREATE FUNCTION acme.good() RETURNS integer LANGUAGE sql SET search_path = acme, pg_temp AS 'SELECT 1';
                    CREATE FUNCTION acme.unused() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                    ALTER TABLE acme.t ADD a integer DEFAULT acme.bad(1), ADD b integer DEFAULT acme.good();
                    CREATE FUNCTION here() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                    CREATE TABLE u (id integer PRIMARY KEY DEFAULT here());
                    """,
                keys: ["K413:acme.bad(x integer)"], level: .note, text: "acme.t"),
            Example(
                rule: "K413",
                sql: """
                    CREATE SCHEMA acme;
                    CREATE TABLE acme.t (id integer PRIMARY KEY);
                    CREATE TABLE acme.u (id integer PRIMARY KEY);
                    CREATE FUNCTION shared() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
                    CREATE TRIGGER a BEFORE INSERT ON acme.t FOR EACH ROW EXECUTE FUNCTION shared();
                    CREATE TRIGGER a BEFORE INSERT ON acme.u FOR EACH ROW EXECUTE FUNCTION shared();
                    """,
                keys: ["K413:public.shared()"], level: .note, isRepairable: false, text: "acme.t, acme.u"),
            Example(
                rule: "K410",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY, tenant integer, role text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
                    CREATE POLICY bad ON t USING (tenant = current_setting('app.tenant', true)::integer);
                    CREATE POLICY also_bad ON t USING (true) WITH CHECK (tenant = (SELECT current_setting('app.other')::integer));
                    CREATE POLICY good ON t USING (tenant = nullif(current_setting('app.tenant', true), '')::integer);
                    CREATE POLICY once ON t
                        USING (tenant = (SELECT nullif((SELECT current_setting('app.tenant', true)), '')::integer));
                    CREATE POLICY own ON t USING (role = current_setting('role') AND role <> 'current_setting(''app.x'')');
                    """,
                keys: ["K410:public.t.also_bad", "K410:public.t.bad"], level: .note, isRepairable: false, text: "app."),
            Example(
                rule: "K411",
                sql: """
                    CREATE TABLE country (code text PRIMARY KEY, name text UNIQUE);
                    CREATE TABLE project (
                        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id integer NOT NULL, code text, mark uuid UNIQUE,
                        name text CONSTRAINT named UNIQUE, country text CONSTRAINT one_each UNIQUE REFERENCES country,
                        UNIQUE (tenant_id, code));
                    CREATE TABLE task (id serial PRIMARY KEY, tenant_id integer, project_id bigint UNIQUE REFERENCES project);
                    """,
                keys: ["K411:public.project.named", "K411:public.project.one_each"], level: .warning,
                text: "lacks tenant_id",
                tenantColumn: "tenant_id"),
            Example(
                rule: "K411",
                sql: """
                    CREATE TABLE plan (code text PRIMARY KEY, tenant_id integer, label text);
                    CREATE UNIQUE INDEX lower_label ON plan (lower(label));
                    CREATE UNIQUE INDEX of_one ON plan (label) WHERE tenant_id = 1;
                    CREATE UNIQUE INDEX joined ON plan ((tenant_id || label));
                    """,
                keys: ["K411:public.plan.lower_label", "K411:public.plan.plan_pkey"], isRepairable: false,
                text: "lower(label)",
                tenantColumn: "tenant_id"),
            Example(
                rule: "K412",
                sql: """
                    CREATE TABLE project (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id integer);
                    CREATE TABLE task (id uuid PRIMARY KEY, tenant_id integer); CREATE TABLE country (id serial PRIMARY KEY);
                    CREATE TABLE note (tenant_id integer, id uuid, PRIMARY KEY (tenant_id, id));
                    CREATE TABLE plan (code text PRIMARY KEY, tenant_id integer);
                    """,
                keys: ["K412:tenant_id"], level: .note, isRepairable: false, text: "public.project, public.task",
                tenantColumn: "tenant_id"),
            Example(
                rule: "K501",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE t (id integer PRIMARY KEY REFERENCES p);
                    COMMENT ON CONSTRAINT t_id_fkey ON t IS '@kindred {"orderedBy": "nothing"}';
                    COMMENT ON TABLE p IS '@kindred {"ky": "id"}';
                    """,
                keys: ["K501:public.p", "K501:public.t.t_id_fkey"], text: "did you mean \"key\"?"),
            Example(
                rule: "K501",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY); COMMENT ON COLUMN p.id IS '@kindred {"ignore": ["K999"]}';
                    """,
                keys: ["K501:public.p"], isRepairable: false, text: "K999"),
            Example(
                rule: "K502",
                sql: """
                    CREATE TABLE p (id integer PRIMARY KEY);
                    CREATE TABLE t (id integer PRIMARY KEY, p_id integer REFERENCES p, place integer,
                        q_id integer REFERENCES p, UNIQUE (q_id, place));
                    COMMENT ON CONSTRAINT t_p_id_fkey ON t IS '@kindred {"orderedBy": "place"}';
                    COMMENT ON CONSTRAINT t_q_id_fkey ON t IS '@kindred {"orderedBy": "place"}';
                    """,
                keys: ["K502:public.t.t_p_id_fkey"], level: .note),
            Example(
                rule: "K503",
                sql: """
                    CREATE TABLE t (id integer PRIMARY KEY, lock_version integer NOT NULL DEFAULT 0);
                    CREATE TABLE u (id integer PRIMARY KEY, version integer NOT NULL DEFAULT 0);
                    COMMENT ON COLUMN u.version IS '@kindred {"version": true}';
                    CREATE TABLE v (id integer PRIMARY KEY, version integer);
                    """,
                keys: ["K503:public.t.lock_version"], level: .note),
        ]

    /// Every rule has an example, except rules that need a state of the server or a newer version.
}
