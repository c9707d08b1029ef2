import Kindred

extension DatabaseObject {
    /// The value of `id`, 0 if it is NULL.
    var storedID: Int {
        get throws { try value(forKey: "id", as: Int.self) ?? 0 }
    }
}

extension Sequence {
    /// The results for each element, one after another.
    func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var result: [T] = []
        for element in self { result.append(try await transform(element)) }
        return result
    }
}
