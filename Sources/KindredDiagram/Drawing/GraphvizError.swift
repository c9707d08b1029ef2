import HarmlessText
import KindredPostgres

/// Why a diagram could not be drawn.
public struct GraphvizError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, stable across releases.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable name.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// There is no program `dot`.
        public static let notInstalled = Code("notInstalled")
        /// The program took too long.
        public static let timeout = Code("timeout")
        /// The program refused the diagram, or was ended.
        public static let failed = Code("failed")
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence that says what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.harmless
    }

    static var notInstalled: GraphvizError {
        GraphvizError(
            .notInstalled,
            "SVG, PNG and PDF are drawn by Graphviz, which is not installed: install the package graphviz "
                + "(apt-get install graphviz, brew install graphviz), or take the format dot, mermaid, dbml or json")
    }

    /// The message.
    public var description: String { message }
}
