import Testing

/// The folders of the object layer's rooms, from the bottom up: a folder's declarations are used in it and in the
/// folders above.
@Suite struct FolderRulesTests {
    private static let folders = [
        "Model": ["Errors", "Keys", "Checks", "Classes", "Entities", "Changes", "Schema"],
        "Conditions": ["Tree", "Terms", "Reads", "Rendering", "Resolving", "Parsing", "Shapes"],
        "SQL": ["Pieces", "Queries", "Statements"],
        "Graph": [
            "Times", "Tables", "Notes", "Answers", "State", "Errors", "Objects", "Noting", "Staging", "Rows",
            "Relationships", "Transactions",
        ],
        "Reading": ["Asking", "Loading", "Requests", "Views"],
        "Writing": [
            "Counts", "Transactions", "Values", "Members", "Ordering", "Staging", "Sets", "Deleting", "Requests",
            "Saving",
        ],
        "API": [
            "Objects", "Relationships", "Columns", "Predicates", "Totals", "Typed", "Requests", "Views", "Context",
            "Database", "Live",
        ],
    ]

    private static let rooms = folders.keys.sorted().map { room in
        RoomedTarget(room, of: RoomRulesTests.target, folders: folders[room] ?? [])
    }

    @Test func everyFileIsInAFolder() {
        for room in Self.rooms {
            #expect(room.files.count > 15)
            #expect(room.files.filter { room.level($0.path) == nil }.map(\.path) == [])
            for folder in room.rooms {
                #expect(room.files.contains { $0.path.hasPrefix("\(folder)/") }, "\(folder) has no files")
            }
        }
    }

    @Test func noFolderUsesADeclarationOfOneAbove() {
        let uses = Self.rooms.flatMap(\.upwardUses)
        #expect(uses.isEmpty, "\(uses.map(\.description).joined(separator: "\n"))")
    }
}
