// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "tracker",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In a project of your own: .package(url: "https://github.com/kindred-swift/kindred", branch: "main")
        .package(name: "kindred", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // Written by `kindred generate`.
        .target(
            name: "TrackerModels",
            dependencies: [.product(name: "Kindred", package: "kindred")]
        ),
        .target(
            name: "TrackerServer",
            dependencies: [
                "TrackerModels",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "KindredService", package: "kindred"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "tracker",
            dependencies: [
                "TrackerModels", "TrackerServer",
                .product(name: "EmbeddedPostgres", package: "kindred"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "KindredMigrations", package: "kindred"),
            ],
            // Writes the files of `Migrations` into the program.
            plugins: [.plugin(name: "KindredMigrationsPlugin", package: "kindred")]
        ),
        .testTarget(
            name: "TrackerTests",
            dependencies: [
                "TrackerModels", "TrackerServer",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "KindredTesting", package: "kindred"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
