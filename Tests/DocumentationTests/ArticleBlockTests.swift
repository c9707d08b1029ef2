import Foundation
import Testing

/// Every example of the README and of the articles is run, or at least compiled, by a test of this target.
///
/// A block of Swift has to stand in one of the test files line by line; statements and messages (`sql` and `text` blocks)
/// have to be what a test expects. Indentation, and where a line of SQL breaks, do not count.
@Suite struct ArticleBlockTests {
    private struct Block {
        let file: String
        let language: String
        let text: String
    }

    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private static func files(below folder: String, ending: String) -> [URL] {
        let root = root.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(ending) }.sorted().map { root.appending(path: $0) }
    }

    private static let articles: [URL] =
        [root.appending(path: "README.md")]
        + files(below: "Sources", ending: ".md").filter { $0.path.contains(".docc/") }

    private static let blocks: [Block] = articles.flatMap { article -> [Block] in
        let text = (try? String(contentsOf: article, encoding: .utf8)) ?? ""
        // Every second part is the inside of a block.
        return text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
            let lines = block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return Block(
                file: article.lastPathComponent, language: String(lines[0]),
                text: lines.count > 1 ? String(lines[1]) : "")
        }
    }

    private static let tests: [String] = files(below: "Tests/DocumentationTests", ending: ".swift").map {
        (try? String(contentsOf: $0, encoding: .utf8)) ?? ""
    }

    /// The lines of a text without indentation and empty ones, in a form in which one text is found in another.
    private static func lines(_ text: String) -> String {
        "\n" + text.split(separator: "\n").map { String($0).inOneLine }.filter { !$0.isEmpty }.joined(separator: "\n")
            + "\n"
    }

    private static func isManifest(_ block: Block) -> Bool {
        [".package(", ".product(", ".executableTarget("].contains { block.text.hasPrefix($0) }
    }

    @Test func theArticlesAreFound() {
        #expect(Self.articles.count > 15 && Self.blocks.count > 60 && Self.tests.count > 5)
        #expect(Set(Self.blocks.map(\.language)).isSubset(of: ["swift", "sql", "text", "sh", "json"]))
    }

    @Test func everyBlockOfSwiftIsCompiledByATest() {
        let tests = Self.tests.map(Self.lines)
        for block in Self.blocks where block.language == "swift" && !Self.isManifest(block) {
            let wanted = Self.lines(block.text)
            #expect(tests.contains { $0.contains(wanted) }, "\(block.file): \(block.text)")
        }
    }

    /// A merge that keeps two versions of a line doubles it.
    @Test func theChangelogSaysEverythingOnce() throws {
        let text = try String(contentsOf: Self.root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let beginnings = text.components(separatedBy: "\n- ").dropFirst().map {
            $0.split(separator: " ").prefix(3).joined(separator: " ")
        }
        #expect(beginnings.count > 20 && Set(beginnings).count == beginnings.count)
    }

    /// SQL that a reader is to run, which stands in a test's fixture, and SQL that the library sends.
    @Test func everyStatementAndMessageIsExpectedByATest() {
        let tests = Self.tests.map(\.inOneLine)
        for block in Self.blocks where block.language == "sql" || block.language == "text" {
            for part in block.text.components(separatedBy: "\n\n") {
                let wanted = part.inOneLine
                #expect(tests.contains { $0.contains(wanted) }, "\(block.file): \(part)")
            }
        }
    }
}
