// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of Kindred do not build it:
//
//     make bench                                                          (from the repository's root)
//     make bench-counts
//     make bench-live
//     swift run -c release --package-path Benchmarks Benchmarks --pin
let package = Package(
    name: "kindred-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "kindred", path: "..")
    ],
    targets: [
        // A distinct name, because target names are unique across the packages of a build.
        .systemLibrary(
            name: "CFloorLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(name: "CFloor", dependencies: ["CFloorLibPQ"]),
        .target(name: "CCounters"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CCounters",
                "CFloor",
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "EmbeddedPostgres", package: "kindred"),
            ]
        ),
        // The program that the oracle of live requests judges: make live-oracle
        .executableTarget(
            name: "LiveAgent",
            dependencies: [
                .product(name: "Kindred", package: "kindred"), .product(name: "KindredLive", package: "kindred"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
