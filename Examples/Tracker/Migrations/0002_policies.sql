-- Who may read and write what: rows of the organization that the setting names, and none without it.

-- The role as which requests run. It owns nothing, so that policies hold for it. Roles belong to the server, not to one
-- database: another may have made it already.
DO $$
BEGIN
    CREATE ROLE tracker_request NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;

-- The server connects as the role that applies the migrations, and takes this one for each request.
GRANT tracker_request TO CURRENT_USER;

GRANT SELECT ON organization TO tracker_request;
GRANT SELECT, INSERT, UPDATE, DELETE ON person, project, membership, ticket, comment, time_entry, document
    TO tracker_request;

-- An empty text is what PostgreSQL leaves where a setting was.
CREATE FUNCTION current_organization() RETURNS integer LANGUAGE sql STABLE
    AS $$ SELECT nullif(current_setting('app.organization', true), '')::integer $$;

ALTER TABLE organization ENABLE ROW LEVEL SECURITY;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
ALTER TABLE project ENABLE ROW LEVEL SECURITY;
ALTER TABLE membership ENABLE ROW LEVEL SECURITY;
ALTER TABLE ticket ENABLE ROW LEVEL SECURITY;
ALTER TABLE comment ENABLE ROW LEVEL SECURITY;
ALTER TABLE time_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;

-- The subquery is read once in a statement, and not for each row.
CREATE POLICY own ON organization USING (id = (SELECT current_organization()));
CREATE POLICY own ON person USING (organization_id = (SELECT current_organization()));
CREATE POLICY own ON project USING (organization_id = (SELECT current_organization()));
CREATE POLICY own ON membership USING (organization_id = (SELECT current_organization()));
CREATE POLICY own ON ticket USING (organization_id = (SELECT current_organization()));
CREATE POLICY own ON comment USING (organization_id = (SELECT current_organization()));
CREATE POLICY own ON time_entry USING (organization_id = (SELECT current_organization()));
CREATE POLICY own ON document USING (organization_id = (SELECT current_organization()));
