// swift-tools-version: 6.2
import PackageDescription

// By itself, so that who uses no Hummingbird builds none of it.
let package = Package(
    name: "kindred-hummingbird",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "KindredHummingbird", targets: ["KindredHummingbird"])
    ],
    dependencies: [
        .package(name: "kindred", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .target(
            name: "KindredHummingbird",
            dependencies: [
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kindred", package: "kindred"),
                .product(name: "KindredLive", package: "kindred"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "KindredHummingbirdTests",
            dependencies: [
                "KindredHummingbird",
                .product(name: "HTTPTypes", package: "swift-http-types"),
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
