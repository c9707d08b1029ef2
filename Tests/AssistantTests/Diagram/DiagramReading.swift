import Foundation
import KindredDiagram

/// The contents of a text in one of a diagram's languages, read by the shape of its lines.
struct DiagramReading: Equatable {
    /// Names by their bytes: the language takes two spellings of a letter for one text, the database does not.
    typealias Key = [UInt8]

    /// How often each entity stands in the text.
    var entities: [Key: Int] = [:]
    /// How often each pair of entities is joined by a line.
    var lines: [Key: Int] = [:]

    /// The contents of a diagram.
    init(_ diagram: Diagram, id: (QualifiedName) -> String) {
        for node in diagram.nodes { entities[Key(id(node.entity).utf8), default: 0] += 1 }
        for edge in diagram.edges { lines[Key("\(id(edge.from.entity)) \(id(edge.to.entity))".utf8), default: 0] += 1 }
    }

    /// Reads DOT.
    init(dot: String) {
        let edge = /^ *"([^"]+)"(?::r\d+)?(?::[ew])? -> "([^"]+)"(?::r\d+)?(?::[ew])? \[(.*)\];$/.matchingSemantics(
            .unicodeScalar)
        let node = /^ *"([^"]+)" \[label=.*$/.matchingSemantics(.unicodeScalar)
        for line in dot.components(separatedBy: "\n") {
            if let match = line.wholeMatch(of: edge) {
                if match.3 != "style=invis" { lines[Key("\(match.1) \(match.2)".utf8), default: 0] += 1 }
            } else if let match = line.wholeMatch(of: node) {
                entities[Key(match.1.utf8), default: 0] += 1
            }
        }
    }

    /// Reads either kind of Mermaid diagram.
    init(mermaid: String) {
        let edge = /^  (\w+) (?:"[^"]+" <(?:--|\.\.)> "[^"]+"|[|}o]+(?:--|\.\.)[|{o]+) (\w+) : .*$/.matchingSemantics(
            .unicodeScalar)
        let node = /^ *(?:class )?(\w+)\["[^"]*"\](?: \{)?$/.matchingSemantics(.unicodeScalar)
        for line in mermaid.components(separatedBy: "\n") {
            if let match = line.wholeMatch(of: edge) {
                lines[Key("\(match.1) \(match.2)".utf8), default: 0] += 1
            } else if let match = line.wholeMatch(of: node) {
                entities[Key(match.1.utf8), default: 0] += 1
            }
        }
    }

    /// Reads DBML.
    init(dbml: String) {
        let name = #""(?:[^"\\]|\\.)*""#
        let table = try? Regex<(Substring, Substring)>("^Table (\(name)\\.\(name)) \\{$")
        let columns = "(?:\(name)|\\(\(name)(?:, \(name))*\\))"
        let reference = try? Regex<(Substring, Substring, Substring)>(
            "^Ref \(name): (\(name)\\.\(name))\\.\(columns) (?:<>|<|-) (\(name)\\.\(name))\\.\(columns)(?: \\[delete: [a-z ]+\\])?$"
        )
        guard let table = table?.matchingSemantics(.unicodeScalar),
            let reference = reference?.matchingSemantics(.unicodeScalar)
        else { return }
        for line in dbml.components(separatedBy: "\n") {
            if let match = line.wholeMatch(of: reference) {
                lines[Key("\(match.output.1) \(match.output.2)".utf8), default: 0] += 1
            } else if let match = line.wholeMatch(of: table) {
                entities[Key(match.output.1.utf8), default: 0] += 1
            }
        }
    }

    /// Reads JSON.
    init(json: String) throws {
        struct Text: Decodable {
            struct Node: Decodable {
                var schema: String
                var name: String
            }
            struct End: Decodable { var entity: String }
            struct Edge: Decodable {
                var from: End
                var to: End
            }
            var nodes: [Node]
            var edges: [Edge]
        }
        let text = try JSONDecoder().decode(Text.self, from: Data(json.utf8))
        for node in text.nodes { entities[Key("\(node.schema).\(node.name)".utf8), default: 0] += 1 }
        for edge in text.edges { lines[Key("\(edge.from.entity) \(edge.to.entity)".utf8), default: 0] += 1 }
    }
}
