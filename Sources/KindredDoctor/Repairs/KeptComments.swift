import KindredSchema

extension Examination {
    /// A repair that also writes the comment again of a constraint that it drops and adds: with it an annotation would go.
    ///
    /// - Parameters:
    ///   - statements: The repair.
    ///   - constraint: The name of the constraint that the finding is about, if it is about one.
    ///   - relation: Its table.
    func keepingComment(
        _ statements: [String], of constraint: String?, on relation: DoctorCatalog.Relation?
    ) throws -> [String] {
        guard let constraint, let relation else { return statements }
        let name = try RepairText.name(constraint)
        guard statements.contains(where: { $0.contains("DROP CONSTRAINT \(name), ADD CONSTRAINT \(name) ") }),
            let oid = foreignKey(named: constraint, of: relation.oid)?.oid
                ?? indexes(of: relation.oid).first(where: { $0.constraintName == constraint })?.constraint,
            let comment = facts.comments[.constraint(oid)]
        else { return statements }
        return statements + [
            "COMMENT ON CONSTRAINT \(name) ON \(try RepairText.name(relation)) IS \(RepairText.literal(comment))"
        ]
    }
}
