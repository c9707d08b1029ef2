// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In a project of your own: .package(url: "https://github.com/kindred-swift/kindred", branch: "main")
        .package(name: "kindred", path: "../.."),
        .package(name: "kindred-hummingbird", path: "../../Packages/KindredHummingbird"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
    ],
    targets: [
        // Written by `kindred generate`.
        .target(
            name: "ShopModels",
            dependencies: [.product(name: "Kindred", package: "kindred")]
        ),
        .target(
            name: "ShopServer",
            dependencies: [
                "ShopModels",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredHummingbird", package: "kindred-hummingbird"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "KindredService", package: "kindred"),
            ]
        ),
        .executableTarget(
            name: "shop",
            dependencies: [
                "ShopServer",
                .product(name: "EmbeddedPostgres", package: "kindred"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredMigrations", package: "kindred"),
            ],
            // Writes the files of `Migrations` into the program.
            plugins: [.plugin(name: "KindredMigrationsPlugin", package: "kindred")]
        ),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "ShopServer",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "KindredTesting", package: "kindred"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
