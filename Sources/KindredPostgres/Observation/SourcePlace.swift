/// Where in the program a statement was asked for.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
    /// Module and file, as `#fileID` gives them: `Shop/Orders.swift`.
    public let fileID: String
    /// The line, from 1.
    public let line: Int

    /// Makes a place; by default where it is written.
    public init(fileID: String = #fileID, line: Int = #line) {
        self.fileID = fileID
        self.line = line
    }

    /// `Shop/Orders.swift:12`.
    public var description: String { "\(fileID):\(line)" }

    /// The place of the call of the library that the task is in.
    @TaskLocal static var current: SourcePlace?

    /// Whether a file is the library's own, which helps nobody.
    static func isInside(_ fileID: String) -> Bool {
        fileID.hasPrefix("Kindred/") || fileID.hasPrefix("KindredPostgres/")
    }
}

extension PostgresClient {
    /// Runs what a public method of the library does, so that observers learn where it was called.
    ///
    /// The outermost call counts, since inner ones are made by the library itself. Without observers `body` runs as it is.
    package func called<T>(
        at fileID: String,
        _ line: Int,
        _ body: () async throws -> T
    ) async rethrows -> T {
        guard isObserved, SourcePlace.current == nil, !SourcePlace.isInside(fileID) else { return try await body() }
        return try await SourcePlace.$current.withValue(SourcePlace(fileID: fileID, line: line), operation: body)
    }

    /// Runs what was asked for at a place, where that is known.
    package func called<T>(at place: SourcePlace?, _ body: () async throws -> T) async rethrows -> T {
        guard let place else { return try await body() }
        return try await called(at: place.fileID, place.line, body)
    }
}
