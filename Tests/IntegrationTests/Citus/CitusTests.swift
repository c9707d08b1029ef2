import Kindred
import Testing

/// The library's calls on a real Citus; only with `KINDRED_TEST_CITUS`, as `make long-citus` runs them.
@Suite(.serialized, .enabled(if: CitusScene.uri != nil, "KINDRED_TEST_CITUS names no Citus")) struct CitusTests {
    @Test(arguments: CitusCall.requests) func requests(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }

    @Test(arguments: CitusCall.relationships) func relationships(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }

    @Test(arguments: CitusCall.rows) func rows(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }

    @Test(arguments: CitusCall.sets) func sets(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }

    @Test(arguments: CitusCall.deletions) func deletions(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }

    @Test(arguments: CitusCall.transactions) func transactions(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }

    @Test(arguments: CitusCall.settings) func settings(call: CitusCall) async throws {
        try await CitusScene.with(call.body)
    }
}
