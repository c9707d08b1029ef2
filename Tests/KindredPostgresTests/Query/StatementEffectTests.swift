import Testing

@testable import KindredPostgres

@Suite struct StatementEffectTests {
    @Test(arguments: [
        ("SELECT 1", StatementText.Effect.plain), ("  select 1", .plain), ("(SELECT 1)", .plain), ("", .plain),
        ("WITH a AS (SELECT 1) DELETE FROM t", .plain), ("/* a /* nested */ one */ -- line\n\tInsert INTO t", .plain),
        ("SET LOCAL a = 1", .plain), ("set transaction read only", .plain), ("SET CONSTRAINTS ALL DEFERRED", .plain),
        ("BEGIN", .transactionControl), ("begin;", .transactionControl), ("/**/start transaction", .transactionControl),
        ("SAVEPOINT a", .transactionControl), ("PREPARE TRANSACTION 'a'", .transactionControl),
        ("-- a\rCOMMIT", .transactionControl), ("--\n--\r;ABORT", .transactionControl), ("-- a COMMIT", .plain),
        ("PREPARE a AS SELECT 1", .session), ("SET search_path = a", .session), ("LISTEN a", .session),
        ("CREATE TEMP TABLE a ()", .session), ("create temporary table a ()", .session), ("DISCARD ALL", .session),
        ("CREATE OR REPLACE TEMP VIEW a AS SELECT 1", .session), ("CREATE OR REPLACE VIEW a AS SELECT 1", .lasting),
        ("CREATE TABLE a ()", .lasting), ("VACUUM", .lasting), ("CALL a()", .lasting), ("DO $$$$", .lasting),
        ("SELECT set_config('a', $1, true)", .plain), ("SELECT pg_catalog.SET_CONFIG ( 'a,)', f(1), TRUE )", .plain),
        ("SELECT set_config('a', 'b', false)", .session), ("SELECT set_config('a', 'b', $1)", .session),
        ("WITH a AS (SELECT set_config('a', '1', true), set_config('b', '1', false)) SELECT 1", .session),
        ("SELECT set_config", .session), ("SELECT set_configuration", .session), ("SELECT reset_at, set_conf", .plain),
        ("SELECT pg_advisory_lock(1)", .session), ("select PG_TRY_ADVISORY_LOCK_SHARED ($1)", .session),
        ("SELECT pg_advisory_xact_lock(1)", .plain), ("SELECT pg_try_advisory_xact_lock_shared(1)", .plain),
        ("SELECT pg_advisory_unlock_all()", .plain), ("SELECT advisory_loc", .plain), ("SELECT advisory_", .plain),
        ("SELECT 1 AS a INTO TEMP t", .session), ("TABLE t\nINTO\n\ttemporary TABLE u", .session),
        ("SELECT 1 into local temp u", .session), ("SELECT 1 INTO u", .plain),
        ("INSERT INTO temperature VALUES (1)", .plain),
        ("SELECT 1 INTO", .plain), ("SELECT 1 INTO ", .plain), ("SELECT intotemp FROM t", .plain),
        ("selection", .lasting), ("SELECTS", .lasting), ("/* unfinished", .plain), ("--", .plain), ("/", .plain),
    ])
    func theFirstWordsTell(text: String, effect: StatementText.Effect) {
        #expect(StatementText(text).effect == effect)
    }
}
