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
        ("PREPARE a AS SELECT 1", .preparing), ("SET search_path = a", .lasting), ("LISTEN a", .lasting),
        ("CREATE TEMP TABLE a ()", .lasting), ("DISCARD ALL", .preparing), ("deallocate a", .preparing),
        ("CREATE TABLE a ()", .lasting), ("VACUUM", .lasting), ("CALL a()", .lasting), ("DO $$$$", .lasting),
        ("selection", .lasting), ("SELECTS", .lasting), ("/* unfinished", .plain), ("--", .plain), ("/", .plain),
    ])
    func theFirstWordsTell(text: String, effect: StatementText.Effect) {
        #expect(StatementText(text).effect == effect)
    }
}
