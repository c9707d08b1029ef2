/// Positions by name: of few names the right one is found sooner by looking at each than by a hash.
package struct NameIndex: Sendable {
    private let names: [String]
    private let positions: [String: Int]

    /// The first position counts where names are equal.
    init(_ names: [String]) {
        self.names = names.count <= 8 ? names : []
        positions = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package subscript(name: String) -> Int? {
        names.isEmpty ? positions[name] : names.firstIndex(of: name)
    }
}
