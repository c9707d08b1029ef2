public import Foundation
public import KindredMigrations

extension Migrations {
    /// Names a folder among the resources of a bundle: `Migrations(bundle: .module)` for a target with
    /// `resources: [.copy("Migrations")]`.
    ///
    /// The bundle is a folder beside the program. Files that are in the program itself need none: the plugin
    /// `KindredMigrationsPlugin` writes them into it, as `Migrations.embedded`. Files are read when they are needed.
    ///
    /// - Parameters:
    ///   - bundle: the target's, `.module`.
    ///   - folder: the folder's name in the bundle.
    public init(bundle: Bundle, folder: String = "Migrations") {
        self.init(folder: "\(bundle.resourcePath ?? bundle.bundlePath)/\(folder)")
    }
}
