import KindredPostgres
import Synchronization

/// The labels of enums, read again where the model does not know one: some may have been added since it was read.
struct EnumLabels: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Reads the labels of columns, one SELECT for each.
    func read(_ columns: [Int], of entity: EntityRuntime) async throws {
        for column in columns {
            let result = try await core.client.execute(entity.texts.labels(of: column), for: entity.name)
            let labels = try result.first?.decode(0, as: [String].self) ?? []
            entity.readLabels.withLock { $0[column] = labels }
        }
    }
}
