import Foundation
import Testing

/// Rules on the library's sources: words that they may not hold, or only with a reason, and the form of comments.
@Suite struct SourceRulesTests {
    /// The Swift files of the library with their paths below `Sources`, and with all their lines.
    private static let texts: [(path: String, lines: [Substring])] = {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let text = (try? String(contentsOf: sources.appending(path: path), encoding: .utf8)) ?? ""
            return (path, text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }()

    /// The Swift files with their lines that are neither empty nor comments.
    private static let files: [(path: String, lines: [String])] = texts.map { path, lines in
        let code = lines.filter { !$0.isEmpty && !$0.drop { $0 == " " }.hasPrefix("//") }
        return (path, code.map(String.init))
    }

    /// The lines of doc comments, without the spaces before them, each with its place.
    private static let docLines: [(place: String, text: Substring)] = texts.flatMap { path, lines in
        let trimmed = lines.map { $0.drop { $0 == " " } }
        return trimmed.indices.filter { trimmed[$0].hasPrefix("///") }.map { number in
            ("\(path):\(number + 1)", trimmed[number])
        }
    }

    /// The texts of comments, each with the place of its first line: lines that follow each other are one comment.
    ///
    /// Lines of string literals, such as code that the generator writes, are none.
    private static let comments: [(place: String, text: String)] = texts.flatMap { path, lines in
        var comments: [(place: String, text: String)] = []
        var (isInLiteral, isInComment) = (false, false)
        for (number, line) in lines.enumerated() {
            let trimmed = line.drop { $0 == " " }
            let isComment = !isInLiteral && trimmed.hasPrefix("//")
            if isComment {
                let text = String(trimmed.drop { $0 == "/" })
                if isInComment {
                    comments[comments.count - 1].text += text
                } else {
                    comments.append(("\(path):\(number + 1)", text))
                }
            }
            isInComment = isComment
            if isInLiteral ? trimmed.hasPrefix("\"\"\"") : line.hasSuffix("\"\"\"") { isInLiteral.toggle() }
        }
        return comments
    }

    /// How often the words stand in each file that has any of them.
    private func places(of words: [String], below folder: String = "") -> [String: Int] {
        var places: [String: Int] = [:]
        for (path, lines) in Self.files where path.hasPrefix(folder) {
            // By C's search: Swift's own takes seconds for all lines and words.
            let count = lines.count { line in words.contains { strstr(line, $0) != nil } }
            if count > 0 { places[path] = count }
        }
        return places
    }

    @Test func theSourcesAreFound() {
        #expect(Self.files.count > 300 && Self.files.allSatisfy { !$0.lines.isEmpty })
    }

    @Test func docCommentsHaveASpaceBehindTheirSlashes() {
        let wrong = Self.docLines.filter { !$0.text.hasPrefix("/// ") && $0.text != "///" }
        #expect(Self.docLines.count > 3_000 && wrong.map(\.place) == [])
    }

    @Test func commentsNameThings() {
        let wrong = Self.comments.compactMap { place, text in
            let words = VagueWords.found(in: text)
            return words.isEmpty ? nil : "\(place): \(words.joined(separator: ", "))"
        }
        #expect(Self.comments.count > 5_000)
        #expect(wrong == [])
    }

    @Test(arguments: [
        ("What a row's writer knows.", ["what …"]), ("The rows, and what is known of them.", ["what is"]),
        ("Those of the table.", ["those …", "those of"]), ("Two sides, one of which is empty.", ["one of which"]),
        ("The row, or the one it refers to. Who reads it waits.", ["the one it", "who", "who …"]),
        ("The rows of others, and one that is gone.", ["of others", "one that"]),
        ("Takes another one, for nobody.", ["another one", "nobody"]),
        ("Says what to do about those rows, as user `nobody`: one of its names.", []),
    ])
    func vagueWordsOfAPlantedCommentAreFound(_ comment: String, _ words: [String]) {
        #expect(Set(VagueWords.found(in: comment)) == Set(words))
    }

    @Test func foldersHaveAtMostFifteenFiles() {
        let folders = Dictionary(grouping: Self.texts.map { $0.path.split(separator: "/").dropLast() }, by: \.self)
        let full = folders.filter { $0.value.count > 15 }.map { $0.key.joined(separator: "/") }
        #expect(folders.count > 50 && full.sorted() == [])
    }

    @Test func noSizeIsCut() {
        // Bits of hashes, letters that were checked, and the bytes of a number one by one.
        #expect(
            places(of: ["truncatingIfNeeded", "numericCast"]) == [
                "Kindred/Conditions/Parsing/FormatLexer.swift": 1, "Kindred/Graph/Tables/ObjectTable.swift": 4,
                "Kindred/Model/Entities/RowTable.swift": 1, "Kindred/Reading/Requests/CursorText.swift": 1,
                "KindredLive/Requests/ContentHash.swift": 1,
                "KindredPostgres/Values/Types/Network/PostgresInet.swift": 1,
                "KindredPostgres/Values/Types/Network/PostgresMACAddress.swift": 1,
            ])
    }

    @Test func libpqFunctionsThatServersOrTextsCouldAbuseAreNotCalled() {
        // Large objects and the fast path (CVE-2026-6477), quoting in libpq (CVE-2025-1094), blocking calls.
        let words = [
            "PQfn(", "lo_", "PQescape", "PQexec(", "PQexecParams(", "PQconnectdb", "PQsetdb", "PQreset", "PQconninfo",
            "PQuntrace", "PQtrace", "PQmakeEmpty", "PQregisterThreadLock", "PQinitSSL", "PQinitOpenSSL",
        ]
        #expect(places(of: words) == [:])
    }

    @Test func theProcessIsLeftAsItIs() {
        let words = ["setlocale(", "sigaction(", "signal(SIG", "setenv(", "putenv(", "unsetenv(", "chdir(", "umask("]
        #expect(places(of: words, below: "KindredPostgres/") == [:])
        #expect(places(of: words, below: "KindredSchema/") == [:])
        #expect(places(of: words, below: "Kindred/") == [:])
    }

    @Test func whatTheCompilerDoesNotCheckIsWhereItHasAReason() {
        #expect(
            places(of: ["@unchecked Sendable"]) == [
                "Kindred/Graph/State/DatabaseObject.swift": 1, "KindredGenerator/ModelGenerator.swift": 1,
                "KindredPostgres/Connection/Driver/ConnectionDriver.swift": 1,
            ])
        #expect(places(of: ["try!", "as!"]) == [:])
    }

    @Test func whatIsUnsafeStandsInAHandfulOfFiles() {
        // The compiler wants each unsafe expression of the sources marked with the first word; the other words are promises
        // that it takes without a proof. A file is added here with its reason.
        let words = ["unsafe ", "@safe", "@unsafe", "(unsafe)", "exclusivity(unchecked)"]
        let postgres = [
            // An executor's reference to itself, which the runtime asks for; it lives as long as the process.
            "Connection/PostgresExecutor.swift",
            // Changes of each request skip a check that costs more than the change.
            "Connection/Requests/PendingRequest.swift",
            // Lends memory, within bounds.
            "Internal/ByteView.swift",
            // Variables that the system fills, as C asks for.
            "Internal/SystemCalls.swift",
            // libpq's and OpenSSL's pointers.
            "LibPQ/CancelKey.swift", "LibPQ/ConnectionHandle+Sending.swift", "LibPQ/ConnectionHandle.swift",
            "LibPQ/TLSSession.swift", "Rows/ResultHandle.swift",
            // A row in one allocation, which is immutable when it is shared.
            "Rows/Row.swift", "Rows/RowBuffer.swift",
        ]
        #expect(places(of: words, below: "KindredPostgres/").keys.sorted() == postgres.map { "KindredPostgres/\($0)" })
        let others = [
            // A process's exit, and the user that runs a server: C again.
            "EmbeddedPostgres/ExitWatch.swift", "EmbeddedPostgres/ServerUser.swift",
            // A word's letters, in capitals, without an array.
            "Kindred/Conditions/Parsing/FormatLexer.swift",
            // Arrays of objects, whose type was checked.
            "Kindred/Graph/Objects/TypedObject.swift",
            // Weak references without the memory of the language's own.
            "Kindred/Graph/Tables/ObjectTable.swift",
            // Classes, whose type was checked; key paths, which are not Sendable.
            "Kindred/Model/Classes/EntityMapping.swift",
            // Set once, before the schema that holds the entity is shared.
            "Kindred/Model/Entities/EntityRuntime.swift",
            // Foundation and C: an error, a flag and a buffer as pointers.
            "KindredModelImport/Reading/CoreDataModel+Files.swift", "KindredTerminal/Terminal.swift",
        ]
        let all = places(of: words).keys.filter { !$0.hasPrefix("KindredPostgres/") }
        #expect(all.sorted() == others)
    }

    @Test func nothingEndsTheProcessOnPurpose() {
        let words = ["fatalError(", "precondition(", "preconditionFailure(", "assert(", "assertionFailure("]
        // An initializer that nothing can call; locks taken out of order, in debug builds; memory beyond its bounds, as an array
        // does.
        #expect(
            places(of: words) == [
                "Kindred/API/Relationships/ToOne.swift": 1,
                "KindredPostgres/Internal/ByteView.swift": 4, "KindredPostgres/Internal/RankedMutex.swift": 1,
            ])
    }

    @Test func everyLockHasARank() {
        let words = [" Mutex(", " Mutex<", "NSLock", "pthread_mutex", "os_unfair_lock"]
        let known = ["KindredPostgres/Internal/RankedMutex.swift": 3]
        #expect(places(of: words, below: "KindredPostgres/") == known)
        #expect(places(of: words, below: "KindredSchema/") == [:])
        #expect(places(of: words, below: "Kindred/") == [:])
    }

    /// The targets that read names of the server.
    private static func knowsServer(_ path: String) -> Bool {
        let others = ["HarmlessText/", "EmbeddedPostgres/", "KindredTerminal/"]
        return !others.contains { path.hasPrefix($0) }
    }

    @Test func keysOfDictionariesAndSetsAreComparedByBytes() {
        // Two spellings of "é" are one `String` and two names of the server: a key is a `ServerText`.
        let words = [
            "[String:", "[String :", "[String?:", "[Substring:", "[[String]:", "Set<String>", "Set<String?>",
            "Set<[String]>", "Set<Substring>", "Dictionary<String,",
        ]
        // Sets that are made of names without a type.
        let made = ["Set(names)", "Set(problems.map(\\.location"]
        // Values that a program gives or gets by key; each key is looked up by its bytes.
        let given = ["PropertyValue)?]", "PostgresValue?]", "any PostgresEncodable]"]
        let exempt = [
            // Values that programs give or get, whose types are public.
            "KindredLive/Sequences/ChangeBatch.swift", "Kindred/Graph/State/Tracking/Tracking+Metrics.swift",
            "KindredDiagram/Model/Diagram.swift", "KindredPostgres/Configuration/PostgresConfiguration.swift",
            "KindredPostgres/Values/Types/Structures/PostgresHStore.swift",
            // Words of the library's own: of annotations, rules, files, log entries, metrics, and libpq's keywords.
            "Kindred/Model/Errors/MistakeLog.swift", "KindredCommand/Diagram/SiteFolder.swift",
            "KindredCommand/Migrate/MigrationLintPage.swift", "KindredDoctor/Examination/DoctorAnnotation.swift",
            "KindredDoctor/Examination/GeneratedClasses.swift", "KindredDoctor/DoctorReport+SARIF.swift",
            "KindredDoctor/Rules/ForeignKeys/DuplicateForeignKeys.swift", "KindredDoctor/Rules/NameRules.swift",
            "KindredMigrations/Lint/Migrations+Lint.swift",
            "KindredObservability/ReadMeters.swift",
            "KindredPostgres/Configuration/PostgresConfiguration+KeepAlive.swift",
            "KindredPostgres/Configuration/PostgresConfiguration+Keywords.swift",
            "KindredPostgres/Configuration/PostgresConfiguration+LibPQ.swift",
            "KindredPostgres/Configuration/PostgresConfiguration+URI.swift",
            "KindredSchema/Annotations/AnnotationText.swift", "KindredSchema/Output/RelationshipNames.swift",
        ]
        // Names of Swift and of Core Data's models.
        let languages = ["KindredGenerator/", "KindredGenerateCommand/", "KindredModelImport/"]
        var found: Set<String> = []
        for (path, lines) in Self.files where Self.knowsServer(path) && !languages.contains(where: path.hasPrefix) {
            let isKeyed = lines.contains { line in
                words.contains { line.contains($0) } && !given.contains { line.contains($0) }
                    || made.contains { line.contains($0) }
            }
            if isKeyed { found.insert(path) }
        }
        #expect(found.sorted() == exempt.sorted())
    }

    @Test func filesThatCompareImportTheOperatorsOverBytes() {
        let words = [
            " == ", " != ", "switch ", "Equatable", "Hashable", "Comparable", ".contains(", "hasPrefix(", "hasSuffix(",
            ".sorted()", "firstIndex(of",
        ]
        // The last two give what the first declares.
        let imports = ["import KindredPostgres", "import Kindred", "import KindredMigrations"]
        let wrong = Self.files.filter { path, lines in
            Self.knowsServer(path) && !path.hasPrefix("KindredPostgres/")
                && !lines.contains { line in imports.contains { line.hasSuffix($0) } }
                && lines.contains { line in words.contains { line.contains($0) } }
        }
        #expect(wrong.map(\.path) == [])
    }

    /// The number of parameters without a label, of a function or initializer whose text begins with its name.
    private static func unlabelledCount(_ declaration: String) -> Int {
        var (count, depth, isAtStart) = (0, 0, false)
        for byte in declaration.utf8 {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                isAtStart = depth == 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { return count }
            case UInt8(ascii: ","): isAtStart = depth == 1
            case UInt8(ascii: " "), UInt8(ascii: "\n"): break
            default:
                if isAtStart, byte == UInt8(ascii: "_") { count += 1 }
                isAtStart = false
            }
        }
        return count
    }

    @Test func functionsHaveAtMostTwoParametersWithoutALabel() {
        let folders = ["Kindred/", "KindredPostgres/", "KindredSchema/"]
        // Programs call these: `having(.count, .greater, 3)` reads as its SQL, a key has its columns' order, and generated
        // code calls `attribute`.
        let exempt: Set = [
            "Kindred/API/Typed/MappedProperty+Kinds.swift: attribute<Root: DatabaseObject, Value>",
            "Kindred/API/Typed/ToOneValue.swift: key<Object: KeyedObject, First: PropertyValue, Second: PropertyValue, Third: PropertyValue>",
            "Kindred/Reading/Requests/GroupRequest.swift: having",
        ]
        var count = 0
        var wrong: [String] = []
        for (path, lines) in Self.files where folders.contains(where: path.hasPrefix) {
            let code = lines.joined(separator: "\n")
            let functions = code.components(separatedBy: "func ").dropFirst()
            let initializers = code.components(separatedBy: " init").dropFirst()
                .filter { $0.hasPrefix("(") || $0.hasPrefix("?(") || $0.hasPrefix("<") }.map { "init\($0)" }
            count += functions.count + initializers.count
            for declaration in functions + initializers where Self.unlabelledCount(declaration) > 2 {
                wrong.append("\(path): \(declaration.prefix { $0 != "(" })")
            }
        }
        #expect(count > 3_000 && Set(wrong) == exempt)
    }

    @Test func onlyTheConnectionLayerKnowsLibpq() {
        let importers = places(of: ["import CLibPQ"]).keys
        #expect(!importers.isEmpty && importers.allSatisfy { $0.hasPrefix("KindredPostgres/") })
    }
}
