/// The place in the program that caused a statement.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
    /// Module and file as in `#fileID`: `Shop/Orders.swift`.
    public let fileID: String
    /// The line, from 1.
    public let line: Int

    /// Makes a place; by default the place of the call.
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
