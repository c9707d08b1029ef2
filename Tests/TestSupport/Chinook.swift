import Foundation

/// A real database, where it is at hand: beside the repository, as `../shared/data/chinook.sql`.
package enum Chinook {
    package static let sql: String? = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../shared/data/chinook.sql").standardizedFileURL
        return try? String(contentsOf: file, encoding: .utf8)
    }()
}
