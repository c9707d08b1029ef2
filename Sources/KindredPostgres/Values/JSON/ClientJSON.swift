/// A document that a client sent: each number with the text that it has there.
///
/// `Decoder` gives numbers as Swift's types only, which hold at most 38 digits, and no zeros behind the last one. But a
/// decoder of JSON names the text of a number that does not fit a type in its error. The text is taken from there, and only
/// if it is the number that was decoded; of other decoders the number is what Swift holds.
package struct ClientJSON: Decodable, JSONDocument {
    package let tree: JSONTree

    /// Reads any document; the decoder limits its depth.
    package init(from decoder: any Decoder) throws { tree = try JSONTree.read(ClientJSON.self, from: decoder) }

    static func number(in container: any SingleValueDecodingContainer) throws -> JSONTree {
        let double = try? container.decode(Double.self)
        let isWhole = (try? container.decode(Int64.self)) != nil
        if isWhole, double == 0, double?.sign == .minus { return .number("-0") }
        do {
            // Small whole numbers fit; their text is not told.
            _ = try container.decode(Int8.self)
            // A number that is too small for a `Double` is no zero.
            if double == nil { _ = try container.decode(Double.self) }
        } catch {
            if let text = "\(error)".number(of: double) { return .number(text) }
        }
        return try JSONTree.number(in: container)
    }
}

extension String {
    /// The part that is a number of JSON with this value, nil being one that no `Double` holds.
    fileprivate func number(of value: Double?) -> String? {
        let parts = split { !"0123456789+-.eE".contains($0) }
        let found = parts.first { part in
            // `Double` reads more than JSON has.
            guard part.first?.isNumber == true || part.first == "-", let read = Double(part) else { return false }
            return value.map { $0 == read } ?? (read.isInfinite || read == 0)
        }
        return found.map(String.init)
    }
}
