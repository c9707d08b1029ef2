import Hummingbird
import HummingbirdTesting
import Kindred
import KindredTesting
import Testing

/// A person's addresses: deleted ones are hidden, and come back.
@Suite(.database(.migrations("../../Migrations")))
struct AddressTests {
    /// The numbers of a person's addresses, as a response shows them.
    private func addresses(_ response: TestResponse) throws -> [String: Int] {
        let emails = try response.json["emails"] as? [[String: Any]] ?? []
        return Dictionary(
            emails.compactMap { email in
                guard let address = email["address"] as? String, let id = email["id"] as? Int else { return nil }
                return (address, id)
            }, uniquingKeysWith: { $1 })
    }

    private func add(_ address: String, to person: Int, _ client: any TestClientProtocol) async throws -> Int {
        let body = ByteBuffer(string: #"{"address": "\#(address)"}"#)
        return try await client.execute(uri: "/people/\(person)/emails", method: .post, body: body) {
            (response) async throws in
            #expect(response.status == .created, "\(String(buffer: response.body))")
            return try #require(try addresses(response)[address])
        }
    }

    @Test func aDeletedAddressIsHiddenAndComesBack() async throws {
        try await withShop { client, other in
            let email = try await add("new@example.org", to: 1, client)
            // The person, the address, the UPDATE that marks it, and what the answer shows: titles and addresses.
            try await expectStatements(5) {
                try await client.execute(uri: "/people/1/emails/\(email)", method: .delete) { (response) async throws in
                    #expect(response.status == .ok)
                    #expect(try addresses(response)["new@example.org"] == nil)
                }
            }
            let hidden = try await other.number(
                "SELECT count(*) FROM email WHERE id = \(email) AND person_id = 1 AND deleted_at IS NOT NULL")
            #expect(hidden == 1)
            try await client.execute(uri: "/people/1/emails/\(email)", method: .delete) {
                #expect($0.status == .notFound)
            }
            try await client.execute(uri: "/people/2/emails/\(email)/restore", method: .post) {
                #expect($0.status == .notFound)
            }
            try await expectStatements(5) {
                try await client.execute(uri: "/people/1/emails/\(email)/restore", method: .post) {
                    (response) async throws in
                    #expect(response.status == .ok)
                    #expect(try addresses(response)["new@example.org"] == email)
                }
            }
        }
    }

    @Test func aDeletedAddressMayBeAnothersMeanwhile() async throws {
        try await withShop { client, other in
            let email = try await add("shared@example.org", to: 1, client)
            try await client.execute(uri: "/people/1/emails/\(email)", method: .delete) { #expect($0.status == .ok) }
            let second = try await add("shared@example.org", to: 2, client)
            try await client.execute(uri: "/people/1/emails/\(email)/restore", method: .post) {
                #expect($0.status == .conflict, "\(String(buffer: $0.body))")
            }
            let shown = try await other.number(
                "SELECT id FROM email WHERE address = 'shared@example.org' AND deleted_at IS NULL")
            #expect(shown == second)
        }
    }
}
