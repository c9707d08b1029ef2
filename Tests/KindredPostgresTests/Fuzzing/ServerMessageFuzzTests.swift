import TestSupport
import Testing

@testable import KindredPostgres

/// Whatever a server puts into the fields of its errors is shown or left out, never more.
@Suite struct ServerMessageFuzzTests {
    @Test func damagedFieldsAreShownWithoutValues() {
        var generator = SeededGenerator(seed: 1)
        func text(_ start: String) -> String {
            String(decoding: generator.damaged(Array(start.utf8)), as: UTF8.self)
        }
        for _ in 0..<Fuzzing.count {
            let position = text("12")
            let message = ServerMessage(
                severity: text("ERROR"), sqlState: SQLState(rawValue: text("23505")),
                message: text("duplicate key value violates unique constraint \"person_pkey\""),
                detail: "Key (id)=(sEcr3t) already exists.", hint: text("hint"), position: Int(position),
                context: text("PL/pgSQL function"), schema: text("public"), table: text("person"),
                column: text("id"), dataType: text("text"), constraint: text("person_pkey"))
            let code: PostgresError.Code = message.isFatal ? .connectionLost : .server
            let error = PostgresError(code, message.summary, server: message, statement: text("SELECT 1"))
            // Not `#expect`, which costs more than the check itself.
            if "\(error)".contains("sEcr3t") || !error.debugDescription.contains("sEcr3t") {
                Issue.record("\(error)")
            }
        }
    }

    @Test func damagedStatementsAreScanned() {
        var generator = SeededGenerator(seed: 2)
        let texts = [
            "SELECT 'it''s' || $1, \"a\"\"b\", $tag$ body $tag$ /* a /* nested */ comment */ -- end\nFROM t",
            "WITH x AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT E'a\\'b' FROM x", "BEGIN; COMMIT",
        ]
        for _ in 0..<Fuzzing.count {
            let text = String(decoding: generator.damaged(Array(generator.pick(texts).utf8)), as: UTF8.self)
            _ = StatementText(text).effect
        }
    }
}
