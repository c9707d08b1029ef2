import Foundation
import Testing

@testable import EmbeddedPostgres

@Suite struct EmbeddedPostgresErrorTests {
    private func failure(
        _ change: (inout EmbeddedPostgres.Options) -> Void
    ) async throws -> EmbeddedPostgresError {
        var options = EmbeddedPostgres.Options()
        change(&options)
        return try await #require(throws: EmbeddedPostgresError.self) {
            _ = try await EmbeddedPostgres.start(options: options)
        }
    }

    @Test func aFolderWithoutProgramsIsNamed() async throws {
        let error = try await failure { $0.binFolder = "/nowhere" }
        #expect(error.code == .invalidBinFolder)
        #expect(error.message.contains("/nowhere"))
    }

    @Test(arguments: ["", "a b", "a'", "a\nb"])
    func aSettingThatIsNoneIsRefused(name: String) async throws {
        #expect(try await failure { $0.settings = [name: "1"] }.code == .invalidOption)
    }

    @Test func aSettingThatTheServerRefusesShowsItsLog() async throws {
        let error = try await failure { $0.settings = ["shared_buffers": "many"] }
        #expect(error.code == .startFailed)
        #expect(error.log.contains("shared_buffers"))
    }

    @Test func settingsAreQuoted() async throws {
        var options = EmbeddedPostgres.Options()
        options.settings = ["cluster_name": #"it's a \ "name"'"# + "\u{301}"]
        try await EmbeddedPostgres.withServer(options: options) { #expect($0.isRunning) }
    }

    @Test func aPathTooLongForASocketIsRefused() async throws {
        let error = try await failure { $0.parentFolder = "/tmp/" + String(repeating: "x", count: 90) }
        #expect(error.code == .socketPathTooLong)
    }

    @Test func aRelativeFolderIsRefused() async throws {
        #expect(try await failure { $0.parentFolder = "tmp" }.code == .folderFailed)
    }

    @Test func theEnvironmentNamesTheFolderThatOptionsDoNot() throws {
        let environment = ["KINDRED_POSTGRES_FOLDER": "/memory/"]
        func path(_ parent: String?) throws -> String {
            try ServerFolder.path(in: parent, asOtherUser: true, environment: environment)
        }
        #expect(try path(nil).hasPrefix("/memory/kindred-pg-"))
        #expect(try path("/data").hasPrefix("/data/kindred-pg-"))
        #expect(
            try ServerFolder.path(in: nil, asOtherUser: true, environment: ["KINDRED_POSTGRES_FOLDER": ""])
                .hasPrefix("/tmp/kindred-pg-"))
    }

    @Test func aFolderThatCannotBeMadeIsNamed() async throws {
        let error = try await failure { $0.parentFolder = "/nowhere" }
        #expect(error.code == .folderFailed)
        #expect(error.message.contains("/nowhere/kindred-pg-"))
    }

    @Test func aServerThatIsNotReadyInTimeIsGivenUp() async throws {
        #expect(try await failure { $0.startTimeout = .milliseconds(1) }.code == .timeout)
    }

    @Test(.enabled(if: geteuid() == 0)) func anUnknownUserIsNamed() async throws {
        let error = try await failure { $0.user = "no_such_user" }
        #expect(error.code == .userNotFound)
        #expect(error.message.contains("no_such_user"))
    }
}
