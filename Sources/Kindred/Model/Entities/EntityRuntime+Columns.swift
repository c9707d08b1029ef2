import KindredPostgres
import KindredSchema

// The columns of an entity that a write may or must set.
extension EntityRuntime {
    func attributes(_ columns: [Int]) -> [Attribute] {
        columns.map { entity.attributes[$0] }
    }

    /// The columns of a foreign key that a row writes when it joins: all writable columns for a new row, else the key's
    /// own columns, since a shared or generated column must already agree.
    func writtenColumns(of columns: [Int], isNew: Bool) -> [Int] {
        guard isNew else { return ownColumns(of: columns) }
        let writable = writableColumns(of: columns)
        guard let tenantColumn, writable.count > 1 else { return writable }
        // A new row has its tenant already.
        return writable.filter { $0 != tenantColumn }
    }

    /// The columns of a foreign key except generated columns; all columns if all are generated.
    private func writableColumns(of columns: [Int]) -> [Int] {
        if generatedColumns.isEmpty { return columns }
        let writable = columns.filter { !generatedColumns.contains($0) }
        return writable.isEmpty ? columns : writable
    }

    /// The writable columns of a foreign key that it shares with neither the entity's key nor another foreign key, and that
    /// do not name the tenant; all of them if none is left.
    func ownColumns(of key: [Int]) -> [Int] {
        let columns = writableColumns(of: key)
        let own = columns.filter { column in
            !self.key.contains(column) && column != tenantColumn
                && !foreignKeys.contains { other in
                    other.ownColumns != key && other.ownColumns.contains(column)
                }
        }
        return own.isEmpty ? columns : own
    }

    /// The columns of a foreign key that say which row it refers to: its own; if it lies within the entity's key, the
    /// columns that no other foreign key has.
    func identifyingColumns(of key: [Int]) -> [Int] {
        let own = ownColumns(of: key)
        let unshared = own.filter { column in
            !foreignKeys.contains { $0.ownColumns != key && $0.ownColumns.contains(column) }
        }
        return unshared.isEmpty ? own : unshared
    }

    /// The columns that become NULL when a row leaves a relationship: the relationship's own nullable columns.
    ///
    /// nil if there is none, because the relationship is required.
    func leavingColumns(of columns: [Int]) -> [Int]? {
        let nullable = ownColumns(of: columns).filter {
            !entity.attributes[$0].isNotNull && !entity.attributes[$0].isGenerated
        }
        return nullable.isEmpty ? nil : nullable
    }

    /// The error for a row that cannot leave a relationship, by the foreign key's own columns.
    func requiredRelationship(_ key: String, _ columns: [Int], underlying: PostgresError? = nil) -> KindredError {
        if let computed = columns.first(where: computedColumns.contains) {
            return self.computed(entity.attributes[computed], key: key)
        }
        let names = columns.map { entity.attributes[$0].name }.joined(separator: ", ")
        return KindredError(
            .requiredRelationship,
            "\(name) cannot leave \"\(key)\": \(names) may not be NULL; give the object another owner or delete it",
            entity: name.description,
            key: key,
            underlying: underlying
        )
    }

    func wrongType(_ attribute: Attribute, _ reason: String) -> KindredError {
        misfit(.wrongType, of: attribute, reason)
    }

    /// The error for a value that the attribute's type does not take.
    func misfit(_ code: KindredError.Code, of attribute: Attribute, _ reason: String) -> KindredError {
        KindredError(
            code,
            "\(name).\(attribute.name) is of type \(attribute.typeName): \(reason)",
            entity: name.description,
            key: attribute.name
        )
    }

    func tooLarge(_ position: Int) -> KindredError {
        KindredError(
            .valueTooLarge,
            "\(name).\(entity.attributes[position].name): a row has at most two gibibytes",
            entity: name.description,
            key: entity.attributes[position].name
        )
    }

    /// Whether a value can be given for a column: the database does not compute it, and it does not name the tenant.
    func isAssignable(_ position: Int) -> Bool { !computedColumns.contains(position) && position != tenantColumn }

    /// Throws for a column whose values the database computes, and for the tenant's column.
    func requireWritable(_ attribute: Attribute, key: String) throws {
        if let tenantColumn, entity.attributes[tenantColumn].name == attribute.name {
            throw KindredError(
                .readOnly,
                "\(name).\(attribute.name) is that of the context's tenant, in every row, and cannot be set",
                entity: name.description,
                key: key
            )
        }
        guard attribute.isGenerated || attribute.identity == .always else { return }
        throw computed(attribute, key: key)
    }

    /// Throws unless rows can get another foreign key: for a key that the database computes, and for a key that is the
    /// tenant's column alone.
    func requireWritable(foreignKey columns: [Int], key: String) throws {
        for column in ownColumns(of: columns) { try requireWritable(entity.attributes[column], key: key) }
    }

    /// Throws for columns among which the database computes one: all of them are given in a new row.
    func requireGiven(_ columns: [Int], key: String) throws {
        guard let column = columns.first(where: computedColumns.contains) else { return }
        throw computed(entity.attributes[column], key: key)
    }

    private func computed(_ attribute: Attribute, key: String) -> KindredError {
        KindredError(
            .readOnly,
            "\(name).\(attribute.name) is generated by the database and cannot be set",
            entity: name.description,
            key: key
        )
    }
}
