import Foundation
import Kindred
import KindredDiagram
import KindredTesting
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The pages of a database whose names are hostile, and of the demo.
@Suite struct DiagramSiteTests {
    /// The pages of random tables.
    private func pages(seed: UInt64, graphviz: Graphviz?) async throws -> (DatabaseSchema, [DiagramSite.Page]) {
        let tables = try RandomTables(seed: seed, count: 36)
        let database = try await TestDatabase.current.connect()
        try await database.client.runScript(tables.sql)
        let schema = try await SchemaReader.read(from: database.client)
        return (schema, try await DiagramSite.pages(of: schema, graphviz: graphviz))
    }

    @Test(.database, arguments: [41, 42, 43] as [UInt64]) func hostileNamesAreTextOnEveryPage(seed: UInt64) async throws
    {
        let installed = await Graphviz().isInstalled()
        let (schema, pages) = try await pages(seed: seed, graphviz: installed ? Graphviz() : nil)
        #expect(pages.count == schema.entities.count + 1)
        #expect(Set(pages.map { $0.path.lowercased() }).count == pages.count)
        let paths = Set(pages.map(\.path))
        for page in pages {
            let document = try XMLReading(html: page.text)
            #expect(document.elements.isSubset(of: XMLReading.known), "\(document.elements)")
            #expect(document.attributes.isSubset(of: XMLReading.knownAttributes), "\(document.attributes)")
            for address in document.addresses {
                let base = page.path == "index.html" ? "" : String(page.path.prefix { $0 != "/" }) + "/"
                let target = URL(string: address, relativeTo: URL(string: "http://x/" + base))?.path.dropFirst() ?? ""
                #expect(paths.contains(String(target)), "\(page.path) leads to \(address)")
            }
            #expect(!document.addresses.contains { $0.contains(":") })
            #expect(DiagramSite.Page.isOne(page.text))
            #expect(!page.text.unicodeScalars.contains { $0 != "\n" && $0.value < 0x20 || $0 == "\u{202E}" })
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func aPageTellsEverythingOfItsEntity() async throws {
        let schema = try await TestDatabase.current.connect().schema
        let pages = try await DiagramSite.pages(of: schema, graphviz: nil)
        #expect(pages.first?.path == "index.html" && pages.count == 17)
        let page = try #require(pages.first { $0.path == "public/purchase.html" }).text
        for attribute in try schema.entity(named: "purchase").attributes {
            #expect(page.contains(">\(attribute.name)<"))
        }
        for relationship in try schema.entity(named: "purchase").relationships {
            #expect(page.contains("<h3>\(relationship.name) "))
            for name in relationship.explanation {
                #expect(page.contains(">\(name.description.replacing("'", with: "&#39;"))</li>"), "\(name)")
            }
        }
        #expect(page.contains("one of basket, paid, sent, returned") && page.contains("key store_id, number"))
        #expect(
            page.contains("href=\"../public/person.html\"")
                && page.contains("when a row of purchase is deleted: cascade"))
        let helper = try #require(pages.first { $0.path == "public/friendship.html" }).text
        #expect(helper.contains("public_person[") && helper.contains("since"))
        #expect(pages == (try await DiagramSite.pages(of: schema, graphviz: nil)))
    }

    @Test(.database, .enabled("Graphviz is installed") { await Graphviz().isInstalled() })
    func pagesHoldPicturesThatLeadToOtherPages() async throws {
        let (_, pages) = try await pages(seed: 44, graphviz: Graphviz())
        #expect(pages.allSatisfy { $0.text.contains("<svg ") && !$0.text.contains("<?xml") })
        #expect(pages.contains { $0.text.contains("xlink:href=\"../") })
    }
}

/// Which elements, attributes and addresses a page has, read as XML.
private final class XMLReading: NSObject, XMLParserDelegate {
    static let known: Set<String> = [
        "html", "head", "meta", "title", "style", "body", "nav", "a", "h1", "h2", "h3", "small", "div", "pre", "p",
        "table",
        "tr", "th", "td", "span", "ul", "li", "svg", "g", "polygon", "polyline", "path", "ellipse", "text",
    ]
    static let knownAttributes: Set<String> = [
        "lang", "charset", "http-equiv", "content", "name", "href", "class", "width", "height", "viewBox", "xmlns",
        "id",
        "transform", "fill", "stroke", "stroke-width", "stroke-dasharray", "points", "d", "text-anchor", "x", "y", "cx",
        "cy",
        "rx", "ry", "font-family", "font-size", "font-style", "font-weight", "text-decoration", "xlink:href",
        "xlink:title",
        "xmlns:xlink", "fill-opacity", "stroke-opacity",
    ]
    private(set) var elements: Set<String> = []
    private(set) var attributes: Set<String> = []
    private(set) var addresses: [String] = []

    init(html: String) throws {
        super.init()
        // The pages close every element, except elements that HTML leaves open.
        let text = html.replacing("<!DOCTYPE html>\n", with: "").replacing(/<meta ([^>]*[^\/])>/) { "<meta \($0.1)/>" }
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else {
            throw parser.parserError ?? CocoaError(.fileReadCorruptFile)
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes found: [String: String] = [:]
    ) {
        elements.insert(name)
        attributes.formUnion(found.keys)
        if let address = found["href"] ?? found["xlink:href"] { addresses.append(address) }
    }
}
