-- A store's clerks see the stock and the purchases of their store, and no others: the setting "shop.store" says which it is.
-- A role belongs to the whole server, where another database may have it already.
DO $$
BEGIN
    CREATE ROLE shop_clerk;
    GRANT shop_clerk TO CURRENT_USER;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;

GRANT SELECT ON ALL TABLES IN SCHEMA public TO shop_clerk;
-- Locking a row needs the right to change it.
GRANT UPDATE ON store, stock TO shop_clerk;
GRANT INSERT, UPDATE ON purchase, purchase_line TO shop_clerk;

-- The tables' owner, as which the server connects for all stores together, sees all rows.
ALTER TABLE stock ENABLE ROW LEVEL SECURITY;
ALTER TABLE purchase ENABLE ROW LEVEL SECURITY;
ALTER TABLE purchase_line ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON stock TO shop_clerk
    USING (store_id = (SELECT nullif(current_setting('shop.store', true), '')::integer));
CREATE POLICY own ON purchase TO shop_clerk
    USING (store_id = (SELECT nullif(current_setting('shop.store', true), '')::integer));
CREATE POLICY own ON purchase_line TO shop_clerk
    USING (store_id = (SELECT nullif(current_setting('shop.store', true), '')::integer));
