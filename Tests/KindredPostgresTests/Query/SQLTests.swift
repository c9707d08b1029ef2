import Foundation
import KindredPostgres
import Testing

@Suite struct SQLTests {
    @Test func interpolatedValuesAreBound() throws {
        let (id, name, none) = (5, "O'Brien; DROP TABLE person", Int?.none)
        let sql: SQL = "SELECT * FROM person WHERE id = \(id) AND name = \(name) AND age = \(none)"
        #expect(sql.text == "SELECT * FROM person WHERE id = $1 AND name = $2 AND age = $3")
        let statement = try sql.statement()
        #expect(statement.text.text == sql.text)
        #expect(statement.bindings.slots.map(\.type) == [.int8, .unspecified, .unspecified])
        #expect(statement.bindings.slots.map(\.format) == [.binary, .text, .binary])
        #expect(statement.bindings.slots.map(\.length) == [8, 26, -1])
    }

    @Test func valuesOfEveryKindAreBound() throws {
        let existential: any PostgresEncodable = 5
        let value: PostgresValue? = .double(0.5)
        let sql: SQL = """
            SELECT \(existential), \(value), \(true), \(UUID()), \(Date()), \([1, 2]), \(Decimal(1)), \(Data()), \("a".dropFirst())
            """
        #expect(
            try sql.statement().bindings.slots.map(\.type) == [
                .int8, .float8, .bool, .uuid, .timestamptz, .int8Array, .numeric, .bytea, .unspecified,
            ])
    }

    @Test func piecesAreNumberedThrough() throws {
        let condition: SQL = "age > \(30)"
        let sql: SQL = "SELECT \("x") FROM \(identifier: "person") WHERE \(condition) AND \(condition)" + " LIMIT \(1)"
        #expect(sql.text == #"SELECT $1 FROM "person" WHERE age > $2 AND age > $3 LIMIT $4"#)
        #expect(try sql.statement().bindings.count == 4)
    }

    @Test func namesAreQuoted() throws {
        let sql: SQL = "SELECT \(identifier: #"we"ird; --"#) FROM t"
        #expect(sql.text == #"SELECT "we""ird; --" FROM t"#)
        let bad: SQL = "SELECT \(identifier: String(repeating: "x", count: 64))"
        expectError(.invalidParameter) { try bad.statement() }
    }

    @Test func whatCannotBeBoundIsAnErrorWhenTheStatementIsUsed() {
        expectError(.invalidParameter) { try ("SELECT \(UInt64.max)" as SQL).statement() }
        expectError(.invalidParameter) { try ("SELECT \("a\u{0}b")" as SQL).statement() }
        expectError(.invalidParameter) { try ("SELECT \(unsafeRaw: "a\u{0}b")" as SQL).statement() }
        expectError(.invalidParameter) { try ("SELECT \(Date(timeIntervalSince1970: .nan))" as SQL).statement() }
        // The failure of a piece is the failure of the whole.
        let piece: SQL = "\(UInt64.max)"
        expectError(.invalidParameter) { try ("SELECT \(piece)" as SQL).statement() }
        expectError(.invalidParameter) { try (("SELECT " as SQL) + piece).statement() }
    }

    @Test func numberedParametersStandAlone() throws {
        #expect(try ("SELECT $1, a$1, '$1'" as SQL).statement().bindings.count == 0)
        expectError(.invalidParameter) { try ("SELECT $1, \(2)" as SQL).statement() }
        expectError(.invalidParameter) { try ("SELECT \(2), $1" as SQL).statement() }
        expectError(.invalidParameter) { try ("SELECT \(2), \(unsafeRaw: "$2")" as SQL).statement() }
        for sql: SQL in [
            "SELECT \(1), '$1'", "SELECT \(1), a$1, \"$1\"", "SELECT \(1) -- $1", "SELECT /* $1 /* */ $2 */ \(1)",
            "SELECT $x$ $1 $x$, \(1)", "SELECT $$ $1 ' $$, \(1)", "SELECT \(1), é$1", "SELECT 'it''s $1', \(1)",
            "SELECT E'\\' $1', \(1)", "SELECT '\\', \(1)", "SELECT \"a\"\"$1\", \(1)", "SELECT U&'$1', \(1)",
            "SELECT \(1) -- it's\n, \(2)", "SELECT $x$ $y$ $1 $x$ , \(1)", "SELECT name'x', \(1)",
        ] {
            #expect(throws: Never.self, "\(sql)") { try sql.statement() }
        }
    }

    @Test func valuesInQuotesAreErrorsThatSayWhatToDo() {
        for (sql, hint) in [
            ("SELECT '\(5)'", "remove the quotes"),
            ("SELECT * FROM t WHERE a LIKE '%\("x")%'", "remove the quotes"),
            ("SELECT $$ \(5) $$", "remove the quotes"), ("SELECT $body$ \(5) $body$", "remove the quotes"),
            ("SELECT E'\\'\(5)'", "remove the quotes"), ("SELECT \"\("person")\"", "identifier:"),
            ("SELECT 1 -- \(5)", "comment"), ("SELECT /* \(5) */ 1", "comment"),
            ("SELECT /* /* */ \(5) */ 1", "comment"),
            ("SELECT '''\(5)", "remove the quotes"), ("SELECT 'a'\n'\(5)'", "remove the quotes"),
        ] as [(SQL, String)] {
            let error = expectError(.invalidParameter) { try sql.statement() }
            #expect(error?.message.contains(hint) == true, "\(sql)")
        }
    }

    @Test func piecesAreJoined() throws {
        let texts = try ["name", "age"].map { column in
            try ("SELECT name FROM person WHERE id = \(1) ORDER BY \(SQL(unsafeRaw: column))" as SQL).statement().text
                .text
        }
        #expect(texts.map { $0.suffix(4) } == ["name", " age"])
        let pieces: [SQL] = ["a", "b"]
        for left in pieces {
            for right in pieces { #expect(try (left + right).statement().text.text == left.text + right.text) }
        }
        #expect(try ("SELECT \(1)" + "" as SQL).statement().text.text == "SELECT $1")
        #expect(try ("SELECT \(1)\(2)" as SQL).statement().bindings.count == 2)
    }

    @Test func descriptionsShowNoValues() throws {
        let secret = "s3cr3t"
        let sql: SQL = "SELECT \(secret), \(Data(secret.utf8))"
        let statement = try sql.statement()
        var dumped = ""
        dump(sql, to: &dumped)
        dump(statement, to: &dumped)
        let texts = [
            sql.description, sql.debugDescription, "\(sql)", String(reflecting: sql), "\(statement)", dumped,
            String(reflecting: statement), String(describing: statement.bindings),
        ]
        for text in texts {
            #expect(!text.contains(secret) && !text.contains("115") && !text.contains("7333"), "\(text)")
        }
    }
}
