-- Work that is done later: one row for each job, which is deleted once it is done.
--
-- No organization and no policy: the workers' role sees all of them, and requests may only add some.
CREATE TABLE job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    input jsonb NOT NULL DEFAULT '{}',
    run_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    problem text
);

CREATE INDEX ON job (run_at);

GRANT INSERT ON job TO tracker_request;
