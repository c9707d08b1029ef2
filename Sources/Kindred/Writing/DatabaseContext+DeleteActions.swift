import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// Marks a deleted object, and in memory does what the database did to the rows that referenced it: loaded objects
    /// of cascaded rows are deleted too, those of nullified rows have lost their foreign key.
    func applyDeleteWithActions(_ object: DatabaseObject) throws {
        guard !object.isDeleted else { return }
        try applyDelete(object)
        let row = object.row
        for relationship in object.runtime.relationships {
            guard case .referenced(let referenced, let columns) = relationship.link,
                relationship.model.deleteRule == .cascade || relationship.model.deleteRule == .nullify,
                let key = try ObjectKey(row, referenced)
            else { continue }
            for member in withMap({ $0.objects(of: relationship.destination) }) {
                let memberRow = member.row
                guard !member.isDeleted, try ObjectKey(memberRow, columns) == key else { continue }
                if relationship.model.deleteRule == .cascade {
                    try applyDeleteWithActions(member)
                } else {
                    try apply(memberRow.settingNull(columns), to: member)
                }
            }
        }
    }
}
