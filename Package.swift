// swift-tools-version: 6.2
import PackageDescription

// Upcoming language features that every target uses, so that imports are private unless said
// otherwise and an async function stays on its caller's executor.
let features: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
// Continuous integration sets KINDRED_STRICT; users of the package never see it.
let strict: [SwiftSetting] = Context.environment["KINDRED_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "kindred",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Kindred", targets: ["Kindred"]),
        .library(name: "KindredLive", targets: ["KindredLive"]),
        .library(name: "KindredFoundation", targets: ["KindredFoundation"]),
        .library(name: "KindredPostgres", targets: ["KindredPostgres"]),
        .library(name: "KindredObservability", targets: ["KindredObservability"]),
        .library(name: "KindredService", targets: ["KindredService"]),
        .library(name: "KindredTesting", targets: ["KindredTesting"]),
        .library(name: "KindredMigrations", targets: ["KindredMigrations"]),
        .library(name: "KindredAssistant", targets: ["KindredAssistant"]),
        .library(name: "KindredDoctor", targets: ["KindredDoctor"]),
        .library(name: "KindredDiagram", targets: ["KindredDiagram"]),
        .library(name: "KindredModelImport", targets: ["KindredModelImport"]),
        .library(name: "KindredSchemaDifferences", targets: ["KindredSchemaDifferences"]),
        .library(name: "EmbeddedPostgres", targets: ["EmbeddedPostgres"]),
        .executable(name: "kindred", targets: ["KindredTool"]),
        // The plugin has the package manager build the second product, once it has looked at the target.
        .plugin(name: "KindredGenerate", targets: ["KindredGenerate"]),
        .executable(name: "KindredGenerateTool", targets: ["KindredGenerateTool"]),
        .plugin(name: "KindredMigrationsPlugin", targets: ["KindredMigrationsPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        // Escapes characters of a server's or caller's text that would harm its readers; for every layer.
        .target(name: "HarmlessText"),
        .target(
            name: "KindredPostgres",
            dependencies: [
                "CLibPQ", "HarmlessText",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]
        ),
        .target(name: "KindredSchema", dependencies: ["HarmlessText", "KindredPostgres"]),
        // The runtime's functions for weak references, which the language calls by itself, under names that Swift code
        // can call.
        .systemLibrary(name: "CSwiftRuntime"),
        .target(
            name: "Kindred",
            dependencies: [
                "CSwiftRuntime", "HarmlessText", "KindredPostgres", "KindredSchema",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // A target of its own for programs that follow the database's changes.
        .target(
            name: "KindredLive",
            dependencies: [
                "Kindred", "KindredPostgres", "KindredSchema", "KindredTrackingScript",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "KindredFoundation", dependencies: ["Kindred", "KindredMigrations"]),
        // A target of its own, so that programs without telemetry do not build its dependencies.
        .target(
            name: "KindredObservability",
            dependencies: [
                "Kindred", "KindredPostgres",
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        // A target of its own for programs that run in a service group.
        .target(
            name: "KindredService",
            dependencies: [
                "Kindred", "KindredPostgres", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "EmbeddedPostgres",
            dependencies: ["HarmlessText", .product(name: "Subprocess", package: "swift-subprocess")]
        ),
        .target(name: "KindredGenerator", dependencies: ["HarmlessText", "KindredPostgres", "KindredSchema"]),
        // Numbered SQL files, applied once each; for servers at start-up, for tests and for the tool.
        .target(
            name: "KindredMigrations", dependencies: ["HarmlessText", "Kindred", "KindredPostgres", "KindredSchema"]),
        // The basis of the assistants: snapshots of the catalog, and the statements that lead from one to another.
        .target(name: "KindredDDL", dependencies: ["HarmlessText", "KindredPostgres", "KindredSchema"]),
        // The commands of the tool as calls. Each needs as little as it can: `KindredSchemaDifferences` alone an embedded server.
        .target(
            name: "KindredDoctor",
            dependencies: [
                "HarmlessText", "Kindred", "KindredDDL", "KindredGenerator", "KindredPostgres", "KindredSchema",
            ]
        ),
        .target(
            name: "KindredDiagram",
            dependencies: [
                "HarmlessText", "KindredPostgres", "KindredSchema",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]
        ),
        .target(name: "KindredModelImport", dependencies: ["HarmlessText", "KindredDDL", "KindredPostgres"]),
        .target(
            name: "KindredSchemaDifferences",
            dependencies: [
                "EmbeddedPostgres", "HarmlessText", "KindredDDL", "KindredModelImport", "KindredPostgres",
                "KindredSchema",
            ]
        ),
        // All assistants together, and the trial of the doctor's repairs.
        .target(
            name: "KindredAssistant",
            dependencies: [
                "KindredDDL", "KindredDiagram", "KindredDoctor", "KindredModelImport", "KindredPostgres",
                "KindredSchemaDifferences",
            ]
        ),
        .target(
            name: "KindredTesting",
            dependencies: ["EmbeddedPostgres", "HarmlessText", "Kindred", "KindredMigrations"]
        ),
        // The demo database's script inside the tool, so that it needs no file at run time.
        .target(
            name: "KindredScripts",
            path: "sql",
            exclude: ["README.md", "tracking"],
            resources: [.embedInCode("demo.sql")]
        ),
        // The helper schema's script inside the library, so that it needs no file at run time.
        .target(
            name: "KindredTrackingScript",
            path: "sql/tracking",
            resources: [
                .embedInCode("versions.sql"), .embedInCode("tables.sql"), .embedInCode("shapes.sql"),
                .embedInCode("triggers.sql"), .embedInCode("enabling.sql"),
                .embedInCode("concerned.sql"), .embedInCode("ddl.sql"), .embedInCode("reading.sql"),
                .embedInCode("retention.sql"), .embedInCode("consumers.sql"), .embedInCode("locks.sql"),
                .embedInCode("status.sql"), .embedInCode("rights.sql"), .embedInCode("uninstall.sql"),
                .embedInCode("events-schema.sql"), .embedInCode("events.sql"), .embedInCode("events-uninstall.sql"),
            ]
        ),
        .target(name: "KindredTerminal", dependencies: ["HarmlessText"]),
        // A target of its own, so that `bin/demo` builds nothing that the tour does not need.
        .target(
            name: "KindredTour",
            dependencies: ["EmbeddedPostgres", "Kindred", "KindredLive", "KindredScripts", "KindredTerminal"]),
        .executableTarget(name: "KindredTourTool", dependencies: ["KindredTerminal", "KindredTour"]),
        // The basis of the commands: parsing, running, failures, and the options of a connection.
        .target(
            name: "KindredCommandLine",
            dependencies: [
                "KindredPostgres", "KindredSchema", "KindredTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // A target of its own, so that the plugin builds nothing that the classes do not need.
        .target(
            name: "KindredGenerateCommand",
            dependencies: [
                "KindredCommandLine", "KindredGenerator", "KindredPostgres", "KindredSchema", "KindredTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // It needs as little as it can, since each package that generates classes builds it: no objects, no assistant.
        .executableTarget(name: "KindredGenerateTool", dependencies: ["KindredGenerateCommand"]),
        // `swift package kindred-generate`, for packages that depend on Kindred.
        .plugin(
            name: "KindredGenerate",
            capability: .command(
                intent: .custom(
                    verb: "kindred-generate", description: "Writes the classes of a database into a target."),
                permissions: [
                    .writeToPackageDirectory(reason: "To write the classes."),
                    .allowNetworkConnections(scope: .all(), reason: "To read the database's catalog."),
                ]
            )
        ),
        // It needs nothing, since each package that embeds migrations builds it.
        .executableTarget(name: "KindredEmbedTool"),
        // The files of migrations inside the program, for packages that depend on Kindred.
        .plugin(name: "KindredMigrationsPlugin", capability: .buildTool(), dependencies: ["KindredEmbedTool"]),
        .target(
            name: "KindredCommand",
            dependencies: [
                "EmbeddedPostgres", "HarmlessText", "Kindred", "KindredAssistant", "KindredCommandLine",
                "KindredGenerateCommand", "KindredLive", "KindredMigrations", "KindredTerminal", "KindredTour",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(name: "KindredTool", dependencies: ["KindredCommand"]),
        // Repeatable random numbers, and random values, for the tests of several targets.
        .target(name: "TestSupport", dependencies: ["KindredPostgres"], path: "Tests/TestSupport"),
        // The command, run in memory, for the tests of several targets.
        .target(
            name: "CommandSupport", dependencies: ["KindredCommand", "KindredTesting"], path: "Tests/CommandSupport"),
        .testTarget(name: "KindredPostgresTests", dependencies: ["HarmlessText", "KindredPostgres", "TestSupport"]),
        .testTarget(name: "KindredSchemaTests", dependencies: ["KindredPostgres", "KindredSchema", "TestSupport"]),
        .testTarget(name: "KindredTests", dependencies: ["Kindred", "KindredLive"]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "CommandSupport", "EmbeddedPostgres", "Kindred", "KindredCommand", "KindredLive", "KindredService",
                "KindredTesting", "TestSupport", "TypeModels",
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            exclude: [
                "Faults/README.md", "Live/Versions/version-1.sql", "Obstacles/README.md", "Security/README.md",
            ]
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: ["CommandSupport", "KindredCommand", "KindredPostgres", "KindredTesting", "TestSupport"]
        ),
        .testTarget(
            name: "AssistantTests",
            dependencies: [
                "CommandSupport", "EmbeddedPostgres", "Kindred", "KindredAssistant", "KindredCommand", "KindredDDL",
                "KindredDiagram", "KindredDoctor", "KindredLive", "KindredMigrations", "KindredModelImport",
                "KindredSchemaDifferences", "KindredTesting", "TestSupport",
            ],
            exclude: ["Diagram/Golden", "Doctor/Fixtures", "Migrations/Files", "ModelImport/Fixtures"]
        ),
        .testTarget(name: "KindredGeneratorTests", dependencies: ["KindredGenerator", "KindredSchema", "TestSupport"]),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "Kindred", "KindredLive", "KindredObservability", "KindredTesting",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]
        ),
        .testTarget(
            name: "TypedTests",
            dependencies: [
                "ChinookModels", "DemoModels", "Kindred", "KindredFoundation", "KindredLive", "KindredTesting",
                "TestSupport", "TypeModels",
            ]
        ),
        // The examples of the README and of the articles.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "DemoModels", "Kindred", "KindredAssistant", "KindredFoundation", "KindredLive", "KindredMigrations",
                "KindredObservability", "KindredService", "KindredTesting",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            plugins: ["KindredMigrationsPlugin"]
        ),
        // The classes of the demo database, as `kindred generate` writes them: a test finds them current.
        .target(
            name: "DemoModels",
            dependencies: ["Kindred"],
            path: "Tests/DemoModels"
        ),
        // Classes generated from a real database, whose script the tests find where it is at hand.
        .target(
            name: "ChinookModels",
            dependencies: ["Kindred"],
            path: "Tests/ChinookModels"
        ),
        // Classes generated for types of all kinds, and for names that mean something else in Swift.
        .target(
            name: "TypeModels",
            dependencies: ["Kindred"],
            path: "Tests/TypeModels",
            exclude: ["schema.sql"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    // Each unsafe expression of the sources is marked; `SourceRulesTests` lists the files that have any.
    let isMemorySafe = target.type != .test && target.name != "TestSupport"
    target.swiftSettings = features + strict + (isMemorySafe ? [.strictMemorySafety()] : [])
}
