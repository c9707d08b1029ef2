import KindredPostgres
import KindredSchema

// The order that a client asks for, by names that the program allows.
extension FetchRequest {
    /// Sorts as a client asks, after earlier sort keys: `sorted(by: "-price,title", allowing: ["title", "price"])`.
    ///
    /// The text has some of the allowed keys, separated by commas, each once; a minus sign before a key sorts the
    /// greatest values first. ``sorted(_:ascending:nulls:)`` must take an allowed key; paths such as `category.name`
    /// are allowed, too.
    ///
    /// Sends nothing. Throws `KindredError` `.unknownKey` for anything else, which names the allowed keys, and
    /// `.invalidRequest` for a key that is given twice: both of the category `.invalid`, since the client gave the
    /// text. A key of the list that the request cannot be sorted by is the program's mistake, and throws for every
    /// text.
    public func sorted(by text: String, allowing keyPaths: [String]) throws -> FetchRequest {
        try sorted(by: text, among: keyPaths.map { AllowedKey(path: $0.keys, names: [$0]) })
    }

    fileprivate func sorted(by text: String, among allowed: [AllowedKey]) throws -> FetchRequest {
        for key in allowed { _ = try sorted(path: key.path, ascending: true) }
        var request = self
        var given: Set<[ServerText]> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(part.hasPrefix("-") ? part.dropFirst() : part)
            guard let key = allowed.first(where: { $0.names.contains(name) }) else {
                let names = allowed.map { $0.names[0] }.joined(separator: ", ")
                throw refusal(.unknownKey, "\"\(name)\" is no key to sort by here; may be given: \(names)", key: name)
            }
            guard given.insert(key.path.map { ServerText($0) }).inserted else {
                throw refusal(.invalidRequest, "\"\(name)\" is given twice to sort by", key: name)
            }
            request = try request.sorted(path: key.path, ascending: !part.hasPrefix("-"))
        }
        return request
    }

    private func refusal(_ code: KindredError.Code, _ message: String, key: String) -> KindredError {
        KindredError(code, message, entity: entity.name.description, key: key).ofInput
    }
}

extension FetchRequest where Object: TypedObject {
    /// Sorts as a client asks, after earlier sort keys: `sorted(by: "-price,title", allowing: [\.title, \.price])`.
    ///
    /// As with names; the client may give the name of the property or of its column.
    public func sorted(by text: String, allowing keyPaths: [PartialKeyPath<Object>]) throws -> FetchRequest {
        let allowed = try keyPaths.map { keyPath in
            guard let key = Object.mapping.key(keyPath) else { throw entity.unknownKey("\(keyPath)") }
            let property = entity.attributeIndex(of: key).flatMap { entity.propertyName(ofAttribute: $0) }
            return AllowedKey(path: [key], names: [property, key].compactMap { $0 })
        }
        return try sorted(by: text, among: allowed)
    }
}

/// A key that a client may sort by.
private struct AllowedKey {
    let path: [String]
    /// The names by which it may be given; errors name the first.
    let names: [String]
}
