-- A deleted address stays, hidden, and can be restored; another person may have it meanwhile.
ALTER TABLE email ADD deleted_at timestamptz;
COMMENT ON TABLE email IS '@kindred {"softDelete": "deleted_at"}';
ALTER TABLE email DROP CONSTRAINT email_address_key;
CREATE UNIQUE INDEX email_address_key ON email (address) WHERE deleted_at IS NULL;
