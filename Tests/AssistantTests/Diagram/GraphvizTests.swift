import Foundation
import KindredDiagram
import Testing

/// Programs called `dot` that behave as they should not.
@Suite struct GraphvizTests {
    /// Runs with a folder that holds a program `dot` of this text, or none.
    private func withProgram(_ script: String?, _ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-dot-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let script {
            let file = folder.appending(path: "dot")
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
        try await body(folder.path)
    }

    private func error(_ graphviz: Graphviz) async -> GraphvizError? {
        do {
            _ = try await graphviz.draw("digraph { a }", as: .svg)
            return nil
        } catch {
            return error as? GraphvizError
        }
    }

    @Test func aMissingProgramIsAnErrorThatNamesThePackage() async throws {
        try await withProgram(nil) { folder in
            let graphviz = Graphviz(searchPath: folder)
            #expect(await !graphviz.isInstalled())
            let error = await error(graphviz)
            #expect(error?.code == .notInstalled)
            #expect(error?.message.contains("apt-get install graphviz") == true)
        }
    }

    @Test func aProgramThatHangsIsEnded() async throws {
        try await withProgram("exec /bin/sleep 600") { folder in
            let error = await error(Graphviz(searchPath: folder, timeLimit: .milliseconds(200)))
            #expect(error?.code == .timeout)
        }
    }

    @Test func aProgramThatFailsOrIsKilledIsAnErrorWithItsWords() async throws {
        try await withProgram("echo 'syntax error in line 1' >&2; exit 1") { folder in
            let error = await error(Graphviz(searchPath: folder))
            #expect(error?.code == .failed && error?.message.contains("syntax error in line 1") == true)
        }
        try await withProgram("kill -9 $$") { folder in
            #expect(await error(Graphviz(searchPath: folder))?.code == .failed)
        }
        try await withProgram("echo nothing") { folder in
            await #expect(throws: GraphvizError.self) {
                try await Graphviz(searchPath: folder).drawForPages(["digraph {}"])
            }
        }
    }

    @Test func aCancelledTaskEndsTheProgram() async throws {
        try await withProgram("exec /bin/sleep 600") { folder in
            let task = Task { try await Graphviz(searchPath: folder).draw("digraph {}", as: .svg) }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(.enabled("Graphviz is installed") { await Graphviz().isInstalled() })
    func picturesAreDrawnInEachFormat() async throws {
        let dot = #"digraph kindred { a [label="</svg>"]; a -> b }"#
        #expect(String(decoding: try await Graphviz().draw(dot, as: .svg), as: UTF8.self).contains("<svg"))
        #expect(try await Graphviz().draw(dot, as: .png).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(String(decoding: try await Graphviz().draw(dot, as: .pdf).prefix(5), as: UTF8.self) == "%PDF-")
        let pictures = try await Graphviz().drawForPages([dot, "digraph { c }", dot])
        #expect(pictures.count == 3 && pictures.allSatisfy { $0.hasPrefix("<svg ") && $0.hasSuffix("</svg>") })
        #expect(pictures[0] == pictures[2] && pictures[1].contains(">c<"))
    }
}
