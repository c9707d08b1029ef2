/// The place in the program that caused a statement.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
    /// Module and file as in `#fileID`: `Shop/Orders.swift`.
    public let fileID: String
    /// The line, from 1.
    public let line: Int

    /// Makes a place; by default that of the call.
    public init(fileID: String = #fileID, line: Int = #line) {
        self.fileID = fileID
        self.line = line
    }

    /// `Shop/Orders.swift:12`.
    public var description: String { "\(fileID):\(line)" }

    /// The place of the task's current call of the library.
    @TaskLocal static var current: SourcePlace?

    /// Whether a file belongs to the library, which tells the user nothing.
    static func isInside(_ fileID: String) -> Bool {
        fileID.hasPrefix("Kindred/") || fileID.hasPrefix("KindredPostgres/")
    }
}

extension PostgresClient {
    /// Runs the body of a public method, so that observers learn where it was called.
    ///
    /// The outermost call counts; inner ones are the library's. Without observers, and outside of transactions, only
    /// `body` runs.
    package func called<T>(
        at fileID: String,
        _ line: Int,
        _ body: () async throws -> T
    ) async rethrows -> T {
        // The error of a failed transaction names the line too.
        guard isObserved || isInTransaction, SourcePlace.current == nil, !SourcePlace.isInside(fileID) else {
            return try await body()
        }
        return try await SourcePlace.$current.withValue(SourcePlace(fileID: fileID, line: line), operation: body)
    }

    /// Runs `body` for a known place.
    package func called<T>(at place: SourcePlace?, _ body: () async throws -> T) async rethrows -> T {
        guard let place else { return try await body() }
        return try await called(at: place.fileID, place.line, body)
    }
}
