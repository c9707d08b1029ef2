import Foundation
import Testing

/// `ARCHITECTURE.md` names what there is.
@Suite struct ArchitectureTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func words(_ text: String) -> Set<String> {
        Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    }

    @Test func everyNameExists() throws {
        let page = try String(contentsOf: Self.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let sources = Self.root.appending(path: "Sources")
        let tests = Self.root.appending(path: "Tests/KindredTests/Rooms")
        var known: Set<String> = ["kindred", "design", "md", "await", "deinit"]
        for folder in [sources, tests] {
            for case let path as String in try #require(FileManager.default.enumerator(atPath: folder.path)) {
                known.formUnion(Self.words(path))
                guard path.hasSuffix(".swift") else { continue }
                known.formUnion(Self.words(try String(contentsOf: folder.appending(path: path), encoding: .utf8)))
            }
        }
        let names = page.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        #expect(names.count > 60)
        for name in names {
            #expect(Self.words(String(name)).subtracting(known).isEmpty, "\(name) is not in Sources")
        }
    }
}
