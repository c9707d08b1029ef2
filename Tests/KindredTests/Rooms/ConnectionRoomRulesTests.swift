import Testing

/// The rooms of the connection layer, from the bottom up: a declaration of one is used in it and in the rooms above.
@Suite struct ConnectionRoomRulesTests {
    static let target = RoomedTarget(
        "KindredPostgres",
        rooms: [
            "Errors", "Internal", "Values", "Query", "Observation", "Rows", "LibPQ", "Configuration", "Connection",
            "Pool",
            "Notifications", "Transactions", "Client", "Streaming", "Copy", "Capabilities",
        ],
        below: ["HarmlessText"])

    @Test func everyFileIsInARoom() {
        #expect(Self.target.files.count > 150)
        #expect(Self.target.files.filter { Self.target.level($0.path) == nil }.map(\.path) == [])
    }

    @Test func noRoomUsesWhatIsDeclaredAboveIt() {
        let uses = Self.target.upwardUses
        #expect(uses.isEmpty, "\(uses.map(\.description).joined(separator: "\n"))")
    }
}
