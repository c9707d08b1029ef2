import DemoModels
import Foundation
import Kindred
import KindredTesting
import Testing

/// The page of everything that a condition may say: it is whole, and the three forms of a row find the same objects.
@Suite struct ConditionReferenceTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

    private struct Row<Object: TypedObject> {
        var closure: ((Columns<Object>) throws -> Condition)?
        var predicate: Predicate<Object>?
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The cells of the page's tables: one list of rows for each table.
    private static func tables() throws -> [[[String]]] {
        let page = try text("Sources/Kindred/Kindred.docc/Guides/ConditionReference.md")
        return page.components(separatedBy: "| to say |").dropFirst().map { part in
            part.split(separator: "\n").dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
                line.replacing("\\|", with: "\u{0}").split(separator: "|", omittingEmptySubsequences: false).dropFirst()
                    .dropLast()
                    .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")).replacing("\u{0}", with: "|") }
            }
        }
    }

    // Each row as the page has it.
    private static func books(_ poetry: DemoModels.Category, _ author: Author) -> [Row<Book>] {
        [
            Row(closure: { $0.title == "Emma" }, predicate: #Predicate { $0.title == "Emma" }),
            Row(closure: { $0.title != "Emma" }, predicate: #Predicate { $0.title != "Emma" }),
            Row(closure: { $0.id < 9 && $0.id > 2 }, predicate: #Predicate { $0.id < 9 && $0.id > 2 }),
            Row(closure: { $0.id <= 9 && $0.id >= 3 }, predicate: #Predicate { $0.id <= 9 && $0.id >= 3 }),
            Row(closure: { $0.id == $0.category.id }, predicate: #Predicate { $0.id == $0.categoryID }),
            Row(closure: { $0.id.isBetween(3, 9) }, predicate: #Predicate { (3...9).contains($0.id) }),
            Row(closure: { $0.id.isIn([1, 2]) }, predicate: #Predicate { [1, 2].contains($0.id) }),
            Row(closure: { !($0.id == 1 || $0.id == 2) }, predicate: #Predicate { !($0.id == 1 || $0.id == 2) }),
            Row(predicate: #Predicate { $0.id > 3 ? $0.id < 9 : $0.id == 1 }),
            Row(),
            Row(closure: { $0.title.hasPrefix("The") }, predicate: #Predicate { $0.title.starts(with: "The") }),
            Row(closure: { $0.title.hasSuffix("s") }),
            Row(closure: { $0.title.contains("the") }, predicate: #Predicate { $0.title.contains("the") }),
            Row(closure: { $0.title.contains("THE", ignoringCase: true) }),
            Row(closure: { $0.title.equals("EMMA", ignoringCase: true) }),
            Row(closure: { $0.title.like("T*e ?*") }),
            Row(closure: { $0.title.matches("T.*") }),
            Row(closure: { $0.title.search("night") }),
            Row(closure: { $0.title.search("nights", configuration: "english") }),
            Row(closure: { $0.title + "!" == "Emma!" }),
            Row(closure: { ($0.id + 1) * 2 - 4 == 6 }, predicate: #Predicate { ($0.id + 1) * 2 - 4 == 6 }),
            Row(closure: { $0.id / 2 == 3 }, predicate: #Predicate { $0.id / 2 == 3 }),
            Row(closure: { $0.id % 2 == 1 }, predicate: #Predicate { $0.id % 2 == 1 }),
            Row(closure: { -$0.id < -3 }, predicate: #Predicate { -$0.id < -3 }),
            Row(),
            Row(closure: { ($0.category.parent.name ?? "-") == "-" }),
            Row(closure: { $0.keywords.contains("signed") }, predicate: #Predicate { $0.keywords.contains("signed") }),
            Row(closure: { $0.keywords.containsAll(["signed"]) || $0.keywords.containsAny(["rare"]) }),
            Row(closure: { $0.keywords.count > 1 }),
            Row(
                closure: { $0.category.name == "Poetry" },
                predicate: #Predicate { $0.category.loaded?.name == "Poetry" }),
            Row(closure: { $0.category == poetry }),
            Row(closure: { $0.category.isIn([poetry]) }),
            Row(closure: { $0.category.parent == nil }),
            Row(closure: { $0.authors.contains(author) }),
            Row(
                closure: { $0.authors.contains { $0.name.hasPrefix("A") && $0.id > 1 } },
                predicate: #Predicate { $0.authors.loaded.contains { $0.name.starts(with: "A") && $0.id > 1 } }),
            Row(
                closure: { $0.authors.contains { $0.name.hasPrefix("A") } },
                predicate: #Predicate { $0.authors.loaded.contains { $0.name.starts(with: "A") } }),
            Row(
                closure: { $0.stocks.allSatisfy { $0.copies > 2 } },
                predicate: #Predicate { $0.stocks.loaded.allSatisfy { $0.copies > 2 } }),
            Row(
                closure: { $0.stocks.none { $0.copies > 2 } },
                predicate: #Predicate { !$0.stocks.loaded.contains { $0.copies > 2 } }),
            Row(closure: { $0.authors.isEmpty }, predicate: #Predicate { $0.authors.loaded.isEmpty }),
            Row(closure: { $0.authors.count > 1 }, predicate: #Predicate { $0.authors.loaded.count > 1 }),
            Row(
                closure: { $0.stocks.count { $0.copies > 3 } > 1 },
                predicate: #Predicate { $0.stocks.loaded.filter { $0.copies > 3 }.count > 1 }),
            Row(closure: { $0.stocks.where { $0.copies > 3 }.sum { $0.copies } > 9 }),
            Row(closure: { $0.stocks.all.average { $0.copies } > 3 && $0.stocks.all.minimum { $0.copies } > 1 }),
            Row(closure: { $0.stocks.all.maximum { $0.copies } == 9 }),
            Row(closure: { $0.stocks.where { $0.storeID == 1 }.only { $0.copies } > 3 }),
            Row(closure: { book in book.category.books.allSatisfy { $0.id >= book.id } }),
        ]
    }

    private static func profiles() -> [Row<Profile>] {
        [
            Row(closure: { $0.biography == nil }, predicate: #Predicate { $0.biography == nil }),
            Row(closure: { $0.settings["theme"] == "dark" }),
            Row(closure: { $0.settings.number("size") > 3 }),
            Row(closure: { $0.settings.bool("newsletter") == true }),
            Row(closure: { !$0.settings.bool("newsletter") }),
            Row(closure: { $0.settings.contains(PostgresJSON(text: #"{"theme": "dark"}"#)) }),
        ]
    }

    private static func purchases() -> [Row<Purchase>] {
        [
            Row(closure: { $0.status == .paid }),
            Row(closure: { $0.placedAt < .now && $0.placedAt < Date.now }),
            Row(closure: { $0.placedAt.isBetween(.distantPast, Date.now) }),
            Row(closure: { $0.placedAt + PostgresInterval(days: 3) < .now }),
            Row(closure: { $0.placedAt - .now < PostgresInterval(days: 3) }),
        ]
    }

    private func expect<Object: TypedObject>(
        _ rows: [Row<Object>], of table: [[String]], in context: DatabaseContext, arguments: [String: any PropertyValue]
    ) async throws {
        let source = try Self.text("Tests/DocumentationTests/Guides/ConditionReferenceTests.swift").inOneLine
        #expect(rows.count == table.count)
        for (row, cells) in zip(rows, table) {
            let (closure, text, predicate) = (cells[1], cells[2], cells[3])
            #expect((row.closure == nil) == closure.isEmpty && (row.predicate == nil) == predicate.isEmpty, "\(cells)")
            for cell in [closure, predicate] where !cell.isEmpty { #expect(source.contains(cell.inOneLine), "\(cell)") }
            var counts: [Int] = []
            let request = try context.fetch(Object.self)
            if let closure = row.closure { counts.append(try await request.where(closure).count()) }
            if let predicate = row.predicate { counts.append(try await request.where(predicate).count()) }
            if !text.isEmpty {
                let argument = text.contains("%@") ? arguments[String(text.prefix { $0 != " " })] : nil
                counts.append(try await request.where(text, arguments: argument.map { [$0] } ?? []).count())
            }
            #expect(Set(counts).count == 1, "\(cells): \(counts)")
        }
    }

    @Test(.shop) func theFormsOfARowFindTheSame() async throws {
        try await withShop { _, context, _ in
            let tables = try Self.tables()
            try #require(tables.count == 3)
            let poetry = try await context.fetch(DemoModels.Category.self).where { $0.name == "Poetry" }.one()
            let author = try await context.fetch(Author.self).sorted { $0.id }.all()[0]
            let arguments: [String: any PropertyValue] = [
                "category": poetry, "ANY": author, "placed_at": PostgresTimestamp.now,
            ]
            try await expect(Self.books(poetry, author), of: tables[0], in: context, arguments: arguments)
            try await expect(Self.profiles(), of: tables[1], in: context, arguments: arguments)
            try await expect(Self.purchases(), of: tables[2], in: context, arguments: arguments)
        }
    }

    /// The names of the public operators and functions of closures that can be used.
    private static func names() throws -> Set<String> {
        let folders = ["Sources/Kindred/API/Columns", "Sources/Kindred/API/Totals"]
        var names: Set<String> = []
        for folder in folders {
            let files = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            for file in files where folder.hasSuffix("Columns") || file == "MemberPart.swift" {
                var isUnavailable = false
                for line in try text("\(folder)/\(file)").split(separator: "\n") {
                    let line = line.trimmingCharacters(in: .whitespaces)
                    if line.hasPrefix("@available") { isUnavailable = true }
                    guard line.hasPrefix("public ") else { continue }
                    if !isUnavailable,
                        let match = line.firstMatch(
                            of: /^public (?:static )?(?:prefix )?(?:func|var) `?([^ (`:<]+|<=?)`?[ (:<]/)
                    {
                        names.insert(String(match.1))
                    }
                    isUnavailable = false
                }
            }
        }
        return names.subtracting(["propertyContent", "description"])
    }

    @Test func thePageHasEveryOperatorAndFunction() throws {
        let cells = try Self.tables().joined().map { $0 }
        let closures = cells.map { $0[1] }.joined(separator: "\n")
        let names = try Self.names()
        #expect(names.count > 30 && names.isSuperset(of: ["==", "<=", "%", "isIn", "containsAll", "only", "where"]))
        for name in names {
            let isWord = name.first?.isLetter == true
            #expect(closures.contains(isWord ? ".\(name)" : name), "\(name)")
        }
        let texts = cells.map { $0[2] }.joined(separator: "\n")
        let tokens = try Self.text("Sources/Kindred/Conditions/Parsing/FormatToken.swift")
        let keywords = Set(tokens.matches(of: /"([A-Z]{2,})"/).map { String($0.1) }).subtracting(["NIL"])
        #expect(keywords.count > 20)
        for keyword in keywords { #expect(texts.contains(keyword), "\(keyword)") }
        for symbol in ["==", "!=", "<", "<=", ">", ">=", "+", "- ", "* ", "/", "**", "{", "[c]", "@count"] {
            #expect(texts.contains(symbol), "\(symbol)")
        }
        // How the tables write each expression of a predicate.
        let written: [String: String?] = [
            "Variable": "$0", "KeyPath": ".title", "NilLiteral": "nil", "Value": "1", "ClosedRange": "3...9",
            "Range": nil,
            "ForcedUnwrap": nil, "NilCoalesce": nil, "OptionalFlatMap": "?.", "Conjunction": "&&", "Disjunction": "||",
            "Negation": "!(", "Conditional": "? ", "Equal": "==", "NotEqual": "!=", "Comparison": "<",
            "Arithmetic": "* 2",
            "IntDivision": "/", "FloatDivision": "/", "IntRemainder": "%", "UnaryMinus": "-$0",
            "SequenceContainsWhere": ".contains {", "SequenceAllSatisfy": ".allSatisfy {", "Filter": ".filter {",
            "SequenceContains": ".contains($0.id)", "RangeExpressionContains": "(3...9).contains",
            "CollectionContainsCollection": ".contains(\"", "SequenceStartsWith": ".starts(with:",
        ]
        let predicates = cells.map { $0[3] }.joined(separator: "\n")
        var known: Set<String> = []
        for file in ["Predicate+Values", "Predicate+Logic", "Predicate+Sequences"] {
            let source = try Self.text("Sources/Kindred/API/Predicates/\(file).swift")
            known.formUnion(source.matches(of: /extension PredicateExpressions\.([A-Za-z]+)/).map { String($0.1) })
        }
        #expect(known == Set(written.keys))
        for case (let name, let text?) in written { #expect(predicates.contains(text), "\(name)") }
    }
}
