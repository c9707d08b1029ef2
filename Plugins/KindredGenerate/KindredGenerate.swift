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
        process.executableURL = try context.tool(named: "KindredGenerateTool").url
        process.arguments = ["generate"] + options
        try process.run()
        process.waitUntilExit()
        // The tool has said what is wrong.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    /// The folder of the one target that is named.
    private func folder(of names: [String], in package: Package) throws -> String {
        let targets = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }
            .filter { $0.kind == .generic || $0.kind == .executable }
        guard names.count == 1, let target = targets.first(where: { $0.name == names[0] }) else {
            let known = targets.map(\.name).sorted().joined(separator: ", ")
            throw WrongTarget(
                description: "Say which target the classes belong to, with --target and one of: \(known)")
        }
        return target.directoryURL.path
    }
}

struct WrongTarget: Error, CustomStringConvertible {
    let description: String
}
