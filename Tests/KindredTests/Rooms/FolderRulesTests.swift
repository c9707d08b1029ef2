import Testing

/// The folders of rooms and targets, from the bottom up: a folder's declarations are used in it and in the
/// folders above.
@Suite struct FolderRulesTests {
    /// The folders of one place.
    private struct Place: Sendable {
        let path: String
        /// From the bottom up; `RoomedTarget.beside` stands for the files beside the folders.
        let folders: [String]
        /// The reason why the files beside the folders have no place among them.
        var unranked: String?

        init(_ path: String, _ folders: String, unranked: String? = nil) {
            self.path = path
            self.folders = folders.split(separator: " ").map(String.init)
            self.unranked = unranked
        }
    }

    private static let places = [
        Place("Kindred/Model", "Errors Keys Checks Classes Entities Changes Schema"),
        Place("Kindred/Conditions", "Tree Terms Reads Rendering Resolving Parsing Shapes"),
        Place("Kindred/SQL", "Pieces Queries Statements"),
        Place(
            "Kindred/Graph",
            "Times Tables Changes Answers State Errors Objects Log Staging Rows Relationships Transactions"),
        Place("Kindred/Reading", "Asking Loading Requests Views"),
        Place(
            "Kindred/Writing",
            "Counts Transactions Values Members Ordering Staging Sets Deleting Requests Saving"),
        Place(
            "Kindred/API",
            "Objects Relationships Columns Predicates Totals Typed Requests Views Context Database Deprecated"),

        Place("KindredLive", "Statements Tracking Changes Reader Contexts Locks Requests Sequences API"),

        Place("KindredPostgres/Internal", ". Texts Waiting"),
        Place("KindredPostgres/Values", "Scanning Types Coding JSON Conversions"),
        Place(
            "KindredPostgres/Values/Types", "Numbers Times Geometry TextSearch Network Structures",
            unranked: "PostgresValue has a case for each type, and types have values"),
        Place("KindredPostgres/Connection", "Opening Positions Requests State Driver ."),
        Place(
            "KindredPostgres/Client", "Replicas Transactions",
            unranked: "a client has its replicas, which are clients, and knows the transaction of the task"),

        Place("KindredSchema", "Expressions Model Catalog Annotations Inference Reading Output"),
        Place(
            "KindredSchema/Model", "Checks Relationships",
            unranked: "entities have checks and relationships, which name entities"),
        Place("KindredSchema/Inference", "Building", unranked: "the builder's tables and keys are nested in it"),

        Place("KindredDDL", "Snapshot Planning"),
        Place("KindredDiagram", ". Drawing Model Text Site"),
        Place("KindredDoctor", "Catalog Report Examination Rules ."),
        Place("KindredDoctor/Rules", "ForeignKeys Safety", unranked: "a list of rules has those of both"),
        Place("KindredMigrations", ". Lint"),
        Place("KindredModelImport", "Model Reading Values Planning Migrating ."),
        Place("KindredSchemaDifferences", "Result Planning Scratch Proof ."),
        Place("KindredCommand", "Inspect Diagram Doctor Tracking Migrate Import Demo Diff ."),
    ]

    /// The places as they were read.
    private static let read: [(place: Place, files: RoomedTarget)] = {
        var found: [String: RoomedTarget] = [
            "Kindred": RoomRulesTests.target, "KindredPostgres": ConnectionRoomRulesTests.target,
        ]
        return places.map { place in
            let parts = place.path.split(separator: "/").map(String.init)
            let target =
                if parts.count == 1 {
                    RoomedTarget(parts[0], rooms: place.folders, below: below[parts[0], default: assistantsBelow])
                } else {
                    found[parts.dropLast().joined(separator: "/"), default: RoomRulesTests.target]
                        .room(parts[parts.count - 1], folders: place.folders)
                }
            found[place.path] = target
            return (place, target)
        }
    }()

    private static let below = [
        "KindredSchema": ["HarmlessText", "KindredPostgres"],
        "KindredLive": ["HarmlessText", "KindredPostgres", "KindredSchema", "Kindred"],
        "KindredMigrations": ["HarmlessText", "KindredPostgres", "KindredSchema", "Kindred"],
        "KindredCommand": [
            "HarmlessText", "KindredPostgres", "KindredSchema", "Kindred", "KindredLive", "KindredDDL", "KindredDoctor",
            "KindredDiagram", "KindredModelImport", "KindredSchemaDifferences", "KindredMigrations",
            "KindredGenerateCommand", "KindredTerminal", "KindredCommandLine",
        ],
    ]
    private static let assistantsBelow = [
        "HarmlessText", "KindredPostgres", "KindredSchema", "KindredDDL", "KindredGenerator", "EmbeddedPostgres",
    ]

    @Test func everyFileIsInAFolder() {
        for (place, files) in Self.read {
            let others = files.files.filter { files.level($0.path) == nil }.map(\.path)
            if place.unranked == nil {
                #expect(others == [], "\(place.path)")
            } else {
                #expect(!others.isEmpty && others.allSatisfy { !$0.contains("/") }, "\(place.path): \(others)")
            }
            for folder in files.rooms {
                #expect(
                    files.files.contains { files.room(of: $0.path) == folder }, "\(place.path)/\(folder) has no files")
            }
        }
    }

    @Test func noFolderUsesADeclarationOfOneAbove() {
        for (place, files) in Self.read {
            let uses = files.upwardUses
            #expect(uses.isEmpty, "\(place.path):\n\(uses.map(\.description).joined(separator: "\n"))")
        }
    }
}
