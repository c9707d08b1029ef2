import Foundation

/// The contents of a large diagram's DOT: frames, the lines that are drawn, and the lines that entities say in words.
struct SheetReading {
    /// The entities in each frame, by its title.
    private(set) var frames: [String: [String]] = [:]
    /// The ends of each line that is drawn, sorted.
    private(set) var drawn: [[String]] = []
    /// The words of each entity about lines that are not drawn: the name of the other end, and the number of lines.
    private(set) var said: [String: [String: Int]] = [:]

    /// How many lines there are in all.
    var lineCount: Int { drawn.count + said.values.flatMap(\.values).reduce(0, +) }

    init(_ dot: String) {
        let node = /^ *"([^"]+)" \[label=(.*)$/
        let edge = /^ *"([^"]+)"(?::r\d+)?(?::[ew])? -> "([^"]+)"(?::r\d+)?(?::[ew])? \[(.*)\];$/
        var frame: String?
        for line in dot.components(separatedBy: "\n") {
            if let match = line.wholeMatch(of: /^ *label="(.*)"; labeljust=l; style=rounded;$/) {
                frame = String(match.1)
            } else if line.trimmingCharacters(in: .whitespaces) == "}" {
                frame = nil
            } else if let match = line.wholeMatch(of: edge) {
                if match.3 != "style=invis" { drawn.append([String(match.1), String(match.2)].sorted()) }
            } else if let match = line.wholeMatch(of: node) {
                if let frame { frames[frame, default: []].append(String(match.1)) }
                said[String(match.1)] = Self.words(String(match.2))
            }
        }
    }

    private static func words(_ label: String) -> [String: Int] {
        var names: [String: Int] = [:]
        let rows = label.matches(of: /POINT-SIZE="8">([^<]*)<\/FONT>/).map { String($0.1) }
        let list = rows.joined(separator: " ").replacing(/[→↠]\s/, with: ", ")
        for part in list.components(separatedBy: ",").map({ $0.trimmingCharacters(in: .whitespaces) })
        where !part.isEmpty {
            let words = part.components(separatedBy: " ×")
            names[words[0], default: 0] += words.count > 1 ? Int(words[1]) ?? 0 : 1
        }
        return names
    }

    /// How often a picture is wider than it is high, from what Graphviz wrote as SVG.
    static func proportion(ofSVG picture: String) -> Double? {
        guard let match = picture.firstMatch(of: /<svg width="(\d+)pt" height="(\d+)pt"/),
            let width = Double(match.1), let height = Double(match.2), height > 0
        else { return nil }
        return width / height
    }
}
