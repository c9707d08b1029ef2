import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = "CREATE TABLE person (id integer PRIMARY KEY, name text);"

/// The first reader after a pause: its notes stay, whatever happens to its transaction.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct ReturnTests {
    /// Ends all attendance, so that writers note once that no reader is there.
    private func pause(_ client: PostgresClient) async throws {
        try await client.query("SELECT setval('kindred.tracking_watch', 1)")
        try await client.query("INSERT INTO person VALUES (1)")
    }

    /// Expects that a writer which looked while no reader was there, and wrote no record, is told of once it has ended.
    private func expectGap(
        _ reader: inout ChangeReader, _ other: PostgresClient, _ comeBack: (PostgresClient) async throws -> Void
    ) async throws {
        try await pause(other)
        let gap = ChangeRecord("G", "person", reason: "unread")
        try await other.withConnection { writer in
            _ = try await writer.query("BEGIN")
            _ = try await writer.query("INSERT INTO person VALUES (100)")
            try await comeBack(reader.client)
            #expect(try await reader.read().contains(ChangeRecord("A", "person", reason: "unread")))
            _ = try await reader.read()
            _ = try await writer.query("COMMIT")
        }
        #expect(try await reader.read().contains(gap))
    }

    @Test func aPublicationOfAllTablesKeepsNoReaderFromComingBack() async throws {
        try await withTracking("person") { _, other, reader in
            try await other.query("CREATE PUBLICATION everything FOR ALL TABLES")
            try await expectGap(&reader, other) { try await $0.query("SELECT kindred.tracking_attend()") }
            #expect(try await other.value("SELECT count(*) FROM kindred.tracking_unread") == .integer(0))
            // Rows of ours that are deleted or changed can be named.
            try await other.query("SELECT kindred.tracking_consumer_begin('index')")
            try await other.query("SELECT kindred.tracking_consumer_drop('index')")
            try await other.query("SELECT kindred.tracking_prune()")
        }
    }

    /// An upgrade does not wait for the writers of a table to give it an identity.
    @Test func aTableWithoutIdentityKeepsItsRows() async throws {
        try await withTracking("person") { _, other, reader in
            try await other.query("ALTER TABLE kindred.tracking_unread REPLICA IDENTITY DEFAULT")
            try await other.query("CREATE PUBLICATION everything FOR ALL TABLES")
            try await expectGap(&reader, other) { try await $0.query("SELECT kindred.tracking_attend()") }
            #expect(try await other.value("SELECT count(*) FROM kindred.tracking_unread") == .integer(1))
        }
    }

    /// A rollback does not take back what sequences say.
    @Test func aReturnThatIsRolledBackIsNotedByTheNextCall() async throws {
        struct Undone: Error {}
        try await withTracking("person") { _, other, reader in
            try await expectGap(&reader, other) { client in
                await #expect(throws: Undone.self) {
                    try await client.withTransaction { _ in
                        try await client.query("SELECT kindred.tracking_attend()")
                        throw Undone()
                    }
                }
                let error = await expectPostgresError(.server) {
                    try await client.query("SELECT kindred.tracking_read('1:1:')")
                }
                #expect(error?.sqlState == .serializationFailure)
                try await client.query("SELECT kindred.tracking_attend()")
            }
        }
    }

    /// Its transaction may stay open for as long as it likes.
    @Test func aReturnThatIsHeldOpenHoldsUpNoOther() async throws {
        try await withTracking("person") { database, other, reader in
            let holder = try await PostgresClient.connect(other.configuration)
            try await holder.lend { holder in
                try await holder.withConnection { held in
                    try await expectGap(&reader, other) { client in
                        _ = try await held.query("BEGIN")
                        _ = try await held.query("SELECT kindred.tracking_attend()")
                        try await client.query("SELECT kindred.tracking_attend()")
                    }
                    _ = try await held.query("ROLLBACK")
                }
            }
            _ = database
        }
    }
}
