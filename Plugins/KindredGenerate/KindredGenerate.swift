import Foundation
import PackagePlugin

/// `swift package kindred-generate --target Models`: writes the classes of a database into a target.
///
/// Everything else is handed to `kindred generate`, which takes the database from `--database`, else from `DATABASE_URL`.
@main
struct KindredGenerate: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        var options = extractor.remainingArguments
        if options.contains("--help") || options.contains("-h") {
            print(
                """
                USAGE: swift package kindred-generate --target <target> [<options of kindred generate>]

                Writes a class for each entity of a database into the folder of a target of this package.

                EXAMPLE: swift package --allow-writing-to-package-directory kindred-generate --target Models \
                --database postgres://localhost/shop

                The options of kindred generate:

                """)
        } else if !options.contains(where: { $0 == "--output" || $0.hasPrefix("--output=") }) {
            options += ["--output", try folder(of: names, in: context.package)]
        }
        let process = Process()
        process.executableURL = try builtTool()
        process.arguments = ["generate"] + options
        try process.run()
        process.waitUntilExit()
        // The tool has said what is wrong.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    /// Builds the tool, which takes minutes the first time: so only after the target was found.
    private func builtTool() throws -> URL {
        let name = "KindredGenerateTool"
        let result = try packageManager.build(.product(name), parameters: .init(echoLogs: true))
        guard result.succeeded, let tool = result.builtArtifacts.first(where: { $0.kind == .executable })?.url else {
            throw Problem(description: "\(name) could not be built; the lines above say why.")
        }
        return tool
    }

    /// The folder of the one target that is named.
    private func folder(of names: [String], in package: Package) throws -> String {
        let targets = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }
            .filter { $0.kind == .generic || $0.kind == .executable }
        let known = targets.map(\.name).sorted().joined(separator: ", ")
        guard names.count == 1 else {
            throw Problem(description: "Say which target the classes belong to, with --target and one of: \(known)")
        }
        guard let target = targets.first(where: { $0.name == names[0] }) else {
            throw Problem(
                description: """
                    This package has no target \(names[0]) with a source file; it has: \(known)
                    The package manager leaves out a target without one. If Package.swift declares it, make an empty file \
                    first: mkdir -p Sources/\(names[0]) && touch Sources/\(names[0])/\(names[0]).swift
                    """)
        }
        return target.directoryURL.path
    }
}

private struct Problem: Error, CustomStringConvertible {
    let description: String
}
