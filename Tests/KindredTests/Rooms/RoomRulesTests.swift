import Testing

/// The rooms of the object layer, from the bottom up: a room's declarations are used in it and in the rooms above.
@Suite struct RoomRulesTests {
    static let rooms = ["Model", "Conditions", "SQL", "Graph", "Reading", "Writing", "API"]

    /// A name that a lower room uses all the same.
    struct Exception: Hashable {
        let name: String
        /// Where it may be used: the beginning of the path below `Sources/Kindred`.
        let place: String
        let reason: String
    }

    static let exceptions: [Exception] = [
        Exception(
            name: "PostgresClient", place: "Graph/State/",
            reason: "the database that the program holds has the pool, and a context has it with settings of its own")
    ]

    static let target = RoomedTarget(
        "Kindred", rooms: rooms, below: ["HarmlessText", "KindredPostgres", "KindredSchema"])
    /// `KindredLive`, whose folders stand below no rooms.
    static let live = RoomedTarget(
        "KindredLive",
        rooms: ["Statements", "Tracking", "Changes", "Reader", "Contexts", "Locks", "Requests", "Sequences", "API"],
        below: ["HarmlessText", "KindredPostgres", "KindredSchema", "Kindred"])
    /// The files of the object layer: those of `Kindred`, and those of `KindredLive` as a room `Live` beside its rooms.
    static let layerFiles =
        target.files
        + live.files.map { file in
            var file = file
            file.path = "Live/\(file.path)"
            return file
        }
    private static let files = target.files
    private static let upwardUses = target.upwardUses
    private typealias Use = RoomedTarget.Use

    private static func level(_ path: String) -> Int? { target.level(path) }

    private static func exception(for use: Use) -> Exception? {
        exceptions.first { $0.name == use.name && use.path.hasPrefix($0.place) }
    }

    @Test func everyFileIsInARoom() {
        #expect(Self.files.count > 150)
        #expect(Self.files.filter { Self.level($0.path) == nil }.map(\.path) == ["Exports.swift"])
    }

    @Test func noRoomUsesWhatIsDeclaredAboveIt() {
        let uses = Self.upwardUses.filter { Self.exception(for: $0) == nil }
        #expect(uses.isEmpty, "\(uses.map(\.description).joined(separator: "\n"))")
    }

    /// Where literals that are parts of SQL stand, outside of the rooms for them.
    @Test func statementsAreWrittenInTheirRoomsOnly() {
        let words = [
            "SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", " FROM ", " WHERE ", " SET ", " RETURNING ",
            "ORDER BY ",
            "FOR UPDATE", "FOR NO KEY UPDATE", " ON CONFLICT ",
        ]
        let rooms = ["SQL/", "Conditions/", "Live/Statements/"]
        let found = Self.layerFiles.filter { !rooms.contains(where: $0.path.hasPrefix) }.flatMap { file in
            file.tokens.filter { token in
                token.kind == .literal && token.isInterpolated && words.contains { token.text.contains($0) }
            }.map { "\(file.path):\($0.line): \($0.text)" }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    /// Words for actions of the upper rooms alone: asking the server and waiting for its answer.
    ///
    /// Statements are made in the room SQL.
    private static let upperWords: [String: Set<String>] = [
        "Model": ["await", "PostgresClient", "Statement", "execute", "executeBatch", "withTransaction"],
        "Conditions": ["await", "PostgresClient", "Statement", "execute", "executeBatch", "withTransaction"],
        "SQL": ["await", "PostgresClient", "execute", "executeBatch", "withTransaction"],
        "Graph": ["PostgresClient", "Statement", "execute", "executeBatch", "withTransaction"],
    ]

    private static let connectionUses: [Use] = files.flatMap { file -> [Use] in
        guard let level = level(file.path), let words = upperWords[rooms[level]] else { return [] }
        return file.tokens.filter { $0.kind == .word && words.contains($0.text) }
            .map { Use(name: $0.text, path: file.path, line: $0.line, room: "the connection layer") }
    }

    @Test func onlyTheUpperRoomsAskTheServer() {
        let uses = Self.connectionUses.filter { Self.exception(for: $0) == nil }
        #expect(uses.isEmpty, "\(uses.map(\.description).joined(separator: "\n"))")
    }

    /// Where the types that programs hold are extended, outside of the room for what programs call.
    static let extensionExceptions: [Exception] = [
        Exception(
            name: "DatabaseObject", place: "Graph/",
            reason: "the graph keeps the state of an object, and gives and changes it")
    ]

    private static let outerExtensions: [Use] = layerFiles.filter { file in
        !["API/", "Live/API/"].contains(where: file.path.hasPrefix)
    }.flatMap { file in
        file.extensions.filter { ["DatabaseContext", "DatabaseObject"].contains($0.text) }
            .map { Use(name: $0.text, path: file.path, line: $0.line, room: "API") }
    }

    private static func extensionException(for use: Use) -> Exception? {
        extensionExceptions.first { $0.name == use.name && use.path.hasPrefix($0.place) }
    }

    /// A room's work stands in types of its own, so that its helpers are private to them.
    @Test func contextsAndObjectsAreExtendedWhereProgramsCallThem() {
        let found = Self.outerExtensions.filter { Self.extensionException(for: $0) == nil }
            .map { "\($0.path):\($0.line) extends \($0.name)" }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        let needed = Set(Self.outerExtensions.compactMap(Self.extensionException))
        #expect(Self.extensionExceptions.filter { !needed.contains($0) }.map(\.place) == [])
        #expect(Self.extensionExceptions.count <= 2)
    }

    /// All that a writer says goes into the log of changes by `append`; nobody else writes there.
    @Test func onlyTheLogsOwnFolderWritesToIt() {
        let found = Self.layerFiles.filter { !$0.path.hasPrefix("Graph/Log/") }.flatMap { file in
            file.tokens.indices.dropLast(2).filter { place in
                file.tokens[place].text == "log" && file.tokens[place + 1].text == "."
                    && file.tokens[place + 2].text.hasPrefix("append")
            }.map { "\(file.path):\(file.tokens[$0].line) writes to the log" }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test func exceptionsAreFewAndNeeded() {
        let needed = Set((Self.upwardUses + Self.connectionUses).compactMap(Self.exception))
        #expect(Self.exceptions.filter { !needed.contains($0) }.map(\.name) == [])
        #expect(Self.exceptions.count <= 1)
    }
}
