import KindredPostgres

/// HTML whose interpolated texts are escaped, so that no name of a database becomes an element, an attribute or a script.
struct Markup: ExpressibleByStringInterpolation {
    /// The HTML.
    private(set) var text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
    }

    /// Takes over a picture as Graphviz wrote it, whose texts are escaped.
    init(picture: String) {
        text = picture
    }

    static func + (left: Markup, right: Markup) -> Markup {
        var result = left
        result.text += right.text
        return result
    }

    static func += (left: inout Markup, right: Markup) {
        left.text += right.text
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: String) { text += value.escapedForHTML }
        mutating func appendInterpolation(_ value: Int) { text += String(value) }
        mutating func appendInterpolation(_ value: Markup) { text += value.text }
    }
}

extension Sequence<Markup> {
    /// One after the other, with something between them.
    func joined(_ separator: Markup = "") -> Markup {
        var result: Markup = ""
        for (place, part) in enumerated() { result += place == 0 ? part : separator + part }
        return result
    }
}
