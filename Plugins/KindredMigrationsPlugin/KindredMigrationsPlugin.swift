import Foundation
import PackagePlugin

/// Writes the SQL files of the folder `Migrations`, in the target's folder or else beside `Package.swift`, into the program, as
/// `Migrations.embedded`.
@main
struct KindredMigrationsPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let folders = [target.directoryURL, context.package.directoryURL].map { $0.appending(path: "Migrations") }
        guard let folder = folders.first(where: { Self.isFolder($0) }) else {
            Diagnostics.error(
                "There is no folder Migrations, neither in \(target.directoryURL.path) nor beside Package.swift")
            return []
        }
        let names = (FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? [])
            .filter { $0.lowercased().hasSuffix(".sql") && !$0.hasPrefix(".") }.sorted()
        let output = context.pluginWorkDirectoryURL.appending(path: "Migrations+Embedded.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(names.count) migrations of \(target.name)",
                executable: try context.tool(named: "KindredEmbedTool").url,
                arguments: [output.path, folder.path] + names,
                inputFiles: names.map { folder.appending(path: $0) }, outputFiles: [output])
        ]
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
