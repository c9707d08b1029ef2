import KindredSchema

/// The names that the repairs of one run have given to constraints and indexes, so that no two get the same.
struct RepairNames {
    private var constraints: Set<QualifiedName> = []
    private var relations: Set<QualifiedName> = []

    /// A name for a constraint that no other one of the table has or gets.
    mutating func constraint(
        of parts: [String], on table: DoctorCatalog.Relation, in examination: Examination
    ) -> String {
        let name = RepairText.made(of: parts) { name in
            constraints.contains(QualifiedName(schema: table.qualifiedName.description, name: name))
                || examination.hasConstraint(named: name, on: table.oid)
        }
        constraints.insert(QualifiedName(schema: table.qualifiedName.description, name: name))
        return name
    }

    /// A name for an index that nothing in the table's schema has or gets.
    mutating func index(of parts: [String], on table: DoctorCatalog.Relation, in examination: Examination) -> String {
        let name = RepairText.made(of: parts) { name in
            relations.contains(QualifiedName(schema: table.schema, name: name))
                || examination.isTaken(name, in: table.schema)
        }
        relations.insert(QualifiedName(schema: table.schema, name: name))
        return name
    }
}
