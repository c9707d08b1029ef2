import Foundation
import KindredPostgres

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An element of a model's file with its contents.
struct ModelXMLElement {
    let name: String
    var attributes: [String: String]
    var children: [ModelXMLElement] = []
    /// Whether there is text in it that is not white.
    var hasText = false

    /// Parses a model's file after `ModelXMLGuard` has looked at it.
    ///
    /// Throws ``ModelImportError`` `.malformed`.
    static func parse(_ bytes: [UInt8]) throws -> ModelXMLElement {
        try ModelXMLGuard.check(bytes)
        let builder = Builder()
        let parser = XMLParser(data: Data(bytes))
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let isParsed = parser.parse()
        // The parser reports success for a text that ends too early, so a model is complete only if its root was
        // closed.
        guard isParsed, parser.parserError == nil, builder.failure == nil, builder.open.isEmpty, let root = builder.root
        else {
            throw ModelImportError(
                .malformed, "The model is no well-formed XML: \(builder.failure ?? "see line \(parser.lineNumber)")")
        }
        return root
    }

    /// Collects the parser's reports.
    private final class Builder: NSObject, XMLParserDelegate {
        var open: [ModelXMLElement] = []
        var root: ModelXMLElement?
        var failure: String?

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(ModelXMLElement(name: name, attributes: attributes))
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            guard let element = open.popLast() else { return }
            if open.isEmpty {
                if root == nil { root = element }
            } else {
                open[open.count - 1].children.append(element)
            }
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            guard !open.isEmpty, !text.allSatisfy(\.isWhitespace) else { return }
            open[open.count - 1].hasText = true
        }

        func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
            if failure == nil { failure = "line \(parser.lineNumber)" }
            parser.abortParsing()
        }
    }
}
