import KindredSchema

/// Writes foreign keys out.
enum ForeignKeyText {
    static func action(_ letter: UInt8) -> String {
        switch letter {
        case UInt8(ascii: "c"): "CASCADE"
        case UInt8(ascii: "n"): "SET NULL"
        case UInt8(ascii: "d"): "SET DEFAULT"
        case UInt8(ascii: "r"): "RESTRICT"
        default: "NO ACTION"
        }
    }

    /// The key without its name, from FOREIGN KEY on.
    ///
    /// - Parameters:
    ///   - columns: The names of the referring columns; those of the key's own table by default.
    ///   - onDelete: What a deletion does, if not what it does today.
    static func definition(
        _ key: DoctorCatalog.ForeignKey, columns: [String]? = nil, onDelete: String? = nil, onUpdate: String? = nil,
        in examination: Examination
    ) throws -> String {
        guard let target = examination.relations[key.target] else { throw UnknownTable() }
        let names = columns ?? examination.names(key.columns, of: key.relation)
        let others = examination.names(key.targetColumns, of: key.target)
        var text =
            "FOREIGN KEY (\(try RepairText.list(names))) REFERENCES \(try RepairText.name(target)) "
            + "(\(try RepairText.list(others)))"
        if key.isMatchFull { text += " MATCH FULL" }
        let update = onUpdate ?? action(key.updateAction)
        if update != "NO ACTION" { text += " ON UPDATE \(update)" }
        var delete = onDelete ?? action(key.deleteAction)
        if onDelete == nil, !key.deleteSetColumns.isEmpty {
            delete += " (\(try RepairText.list(examination.names(key.deleteSetColumns, of: key.relation))))"
        }
        if delete != "NO ACTION" { text += " ON DELETE \(delete)" }
        if key.isDeferrable { text += " DEFERRABLE" + (key.isDeferred ? " INITIALLY DEFERRED" : "") }
        return text
    }

    /// A table that the catalog does not show, such as one of an extension.
    struct UnknownTable: Error {}
}
