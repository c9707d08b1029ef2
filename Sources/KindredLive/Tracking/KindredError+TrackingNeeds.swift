import Kindred
import KindredPostgres
import KindredSchema

extension KindredError {
    /// The error of a change to tracking that needs a feature which the server lacks; nil for other errors.
    init?(trackingNeeds error: PostgresError) {
        let texts = [error.statement, error.server?.context, error.server?.message].compactMap { $0 }
        let capability: ServerCapability? =
            if error.server?.message.contains("advisory") == true {
                .advisoryLocks
            } else if texts.contains(where: { $0.contains("EVENT TRIGGER") }) {
                .eventTriggers
            } else if texts.contains(where: { $0.contains(" TRIGGER ") }) {
                .statementTriggers
            } else {
                nil
            }
        guard let lacking = capability.map({ error.lacking($0) }), lacking.code == .unsupported else { return nil }
        self.init(.unsupported, lacking.message, underlying: error)
    }
}

extension Entity {
    /// Throws `KindredError` `.unsupported` for a table of which no changes can be recorded.
    func requireRecordable() throws {
        guard isDistributed else { return }
        throw KindredError(
            .unsupported,
            """
            Citus distributes \(name), and refuses triggers that record changes of such a table: read it again when it may have \
            changed, or have the program write to a local table beside it, and follow that
            """, entity: name.description)
    }
}
