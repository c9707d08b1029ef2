import Kindred
import KindredTesting
import Testing

/// Functions, operators and tables of other roles, which fit better than PostgreSQL's own (CVE-2018-1058).
@Suite(
    .database(
        """
        CREATE SCHEMA shop;
        CREATE TABLE shop.item (id bigint PRIMARY KEY, name varchar(40) NOT NULL, tags varchar(9)[]);
        INSERT INTO shop.item VALUES (1, 'Ada', '{a,b}'), (2, 'Bob', '{}');

        -- What somebody may do where everybody may create things.
        CREATE TABLE public.caught (what text);
        CREATE FUNCTION public.same(varchar, varchar) RETURNS boolean LANGUAGE sql AS
            $$ INSERT INTO public.caught VALUES ('same'); SELECT true $$;
        CREATE FUNCTION public.same(varchar, text) RETURNS boolean LANGUAGE sql AS
            $$ INSERT INTO public.caught VALUES ('same'); SELECT true $$;
        CREATE FUNCTION public.same(varchar[], varchar[]) RETURNS boolean LANGUAGE sql AS
            $$ INSERT INTO public.caught VALUES ('same'); SELECT true $$;
        CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.same);
        CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = text, FUNCTION = public.same);
        CREATE OPERATOR public.~~ (LEFTARG = varchar, RIGHTARG = text, FUNCTION = public.same);
        CREATE OPERATOR public.= (LEFTARG = varchar[], RIGHTARG = varchar[], FUNCTION = public.same);
        CREATE FUNCTION public.lower(varchar) RETURNS text LANGUAGE sql AS
            $$ INSERT INTO public.caught VALUES ('lower'); SELECT 'ada' $$;
        CREATE FUNCTION public.strpos(varchar, text) RETURNS integer LANGUAGE sql AS
            $$ INSERT INTO public.caught VALUES ('strpos'); SELECT 1 $$;
        CREATE TABLE public.item (id bigint PRIMARY KEY, name varchar(40));
        INSERT INTO public.item VALUES (7, 'false');
        """))
struct SearchPathTests {
    private static let formats = [
        "name == %@", "name ==[c] %@", "name LIKE %@", "name CONTAINS %@", "name CONTAINS[c] %@", "name BEGINSWITH %@",
    ]

    /// The results of requests for "Ada", and the number of caught calls.
    private func find(_ change: (inout PostgresConfiguration) -> Void) async throws -> (names: [String], caught: Int) {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        change(&configuration)
        let database = try await Database.connect(configuration)
        let context = database.makeContext()
        var names: [String] = []
        for format in Self.formats {
            for item in try await context.fetch("shop.item").where(format, "Ada").all() {
                names.append(try item.value(forKey: "name", as: String.self) ?? "")
            }
        }
        let caught = try await database.query("SELECT count(*) FROM public.caught")[0].decode(0, as: Int.self) ?? 0
        await database.close()
        return (names, caught)
    }

    @Test func aSearchPathOfOnesOwnKeepsFunctionsAndOperatorsOfOthersOut() async throws {
        let names = Array(repeating: "Ada", count: Self.formats.count)
        let safe = try await find { $0.searchPath = ["shop"] }
        #expect(safe.names == names && safe.caught == 0)
        let empty = try await find { $0.searchPath = [] }
        #expect(empty.names == names && empty.caught == 0)
        // Without one, functions that every role may create do take part: the danger is real.
        let unsafe = try await find { _ in }
        #expect(unsafe.caught > 0)
    }

    @Test func namesFollowTheSearchPathAndTemporaryTablesComeLast() async throws {
        try await withClient(maximumConnections: 1, configure: { $0.searchPath = ["shop", "public"] }) { client in
            try await client.withConnection { connection in
                try await connection.query("CREATE TEMP TABLE item (id bigint, name text)")
                #expect(try await connection.query("SELECT count(*) FROM item")[0][0] == 2)
            }
            let schema = try await SchemaReader.read(from: client)
            #expect(schema.searchPath == ["shop", "public"])
            let item = try schema.entity(named: "item")
            #expect(item.name.schema == "shop")
        }
        // Nothing is in the path: entities have their schemas' names, and the role is known all the same.
        try await withClient(configure: { $0.searchPath = [] }) { client in
            let schema = try await SchemaReader.read(from: client)
            #expect(schema.searchPath == [] && schema.entities.count == 3)
            #expect((try? schema.entity(named: "item")) == nil)
        }
    }

    @Test func aTransactionMayHaveItsOwnAndTheNextUserHasTheConfigured() async throws {
        try await withClient(maximumConnections: 1, configure: { $0.searchPath = ["shop"] }) { client in
            try await client.withTransaction { _ in
                try await client.query("SELECT set_config('search_path', 'public', true)")
                #expect(try await client.query("SELECT id FROM item")[0][0] == 7)
            }
            try await client.query("SELECT set_config('search_path', 'public', false)")
            #expect(try await client.query("SELECT id FROM item ORDER BY id")[0][0] == 1)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func aPoolerThatDropsTheSearchPathIsRefused() async throws {
        let pooler = try await TestPooler(sessions: 1)
        try await pooler.connect().close()
        var configuration = pooler.configuration
        configuration.searchPath = ["shop"]
        let error = await expectPostgresError(.connectionFailed) { [configuration] in
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(error?.message.contains("ALTER ROLE") == true, "\(String(describing: error))")
        // Where the database says the same, nothing is missing.
        try await withClient { client in
            let name = try await client.query("SELECT current_database()")[0].decode(0, as: String.self) ?? ""
            try await client.query(#"ALTER DATABASE \#(identifier: name) SET search_path = "shop", pg_temp"#)
        }
        try await pooler.command("RECONNECT")
        try await lend(configuration) { (client) async throws in
            #expect(try await client.query("SELECT count(*) FROM item")[0][0] == 2)
        }
    }

    @Test func aServerThatReportsAnotherSearchPathIsRefused() async throws {
        let server = try ScriptedServer {
            $0.welcome(parameters: [("client_encoding", "UTF8"), ("search_path", "public")])
        }
        var configuration = server.configuration
        configuration.searchPath = ["shop"]
        let error = await expectPostgresError(.connectionFailed) { [configuration] in
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(error?.message.contains("search_path") == true, "\(String(describing: error))")
    }

    @Test func aServerThatDoesNotSayItsSearchPathHasTheTimeOfAnAttempt() async throws {
        for isCut in [true, false] {
            let server = try ScriptedServer { session in
                session.welcome()
                _ = session.readUntilSync()
                if !isCut { while session.readMessage() != nil {} }
            }
            var configuration = server.configuration
            configuration.searchPath = ["shop"]
            configuration.connectTimeout = isCut ? .seconds(60) : .milliseconds(200)
            await expectPostgresError(.connectionFailed) { [configuration] in
                _ = try await PostgresClient.connect(configuration)
            }
        }
    }

    @Test func aTextThatWouldBeReadDifferentlyEndsTheConnection() async throws {
        try await withClient(maximumConnections: 1) { (client) async throws in
            await expectPostgresError(.invalidParameter) {
                try await client.query("SET standard_conforming_strings = off")
            }
            #expect(try await client.query("SHOW standard_conforming_strings")[0][0] == "on")
            #expect(client.metrics.opened == 2)
        }
    }
}
