package import KindredPostgres

extension DatabaseContext {
    /// Whether a context follows the changes that other contexts, processes and clients commit.
    ///
    /// `.automatic`, with which it does, is declared in the product `KindredLive`.
    public struct Tracking: Sendable {
        /// Gives what brings changes to the contexts of a database with some settings; nil where nothing does.
        package let feed: (@Sendable (Database, SessionSettings) -> any ContextFeed)?

        /// A context to which something brings changes.
        package init(_ feed: @escaping @Sendable (Database, SessionSettings) -> any ContextFeed) { self.feed = feed }

        private init() { feed = nil }

        /// Objects show the values that were read last.
        public static let none = Tracking()
    }
}

extension DatabaseContext.Tracking: Hashable {
    /// Whether both follow changes, or neither does.
    public static func == (left: Self, right: Self) -> Bool { (left.feed == nil) == (right.feed == nil) }

    /// Takes part in a hash value.
    public func hash(into hasher: inout Hasher) { hasher.combine(feed == nil) }
}
