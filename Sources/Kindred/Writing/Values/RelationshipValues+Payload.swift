import KindredPostgres
import KindredSchema

extension RelationshipValues {
    /// The values for the helper's other columns; throws before anything is sent if a required one is missing, or if the
    /// database computes a foreign key of the helper.
    func payload(
        _ given: [String: (any PropertyValue)?],
        of relationship: RelationshipRuntime, through link: RelationshipRuntime.HelperLink
    ) throws -> ColumnValues? {
        let helper = link.entity
        try helper.requireGiven(link.pairColumns, key: relationship.model.name)
        var assignments = Assignments(helper)
        for (key, value) in given.sorted(by: { $0.key < $1.key }) {
            guard let column = helper.attributeIndex(of: key), !link.pairColumns.contains(column) else {
                guard helper.attributeIndex(of: key) == nil else {
                    throw KindredError(
                        .wrongType,
                        "\(helper.name).\(key) is set by the relationship itself",
                        entity: helper.name.description,
                        key: key
                    )
                }
                throw helper.unknownKey(key)
            }
            try assignments.assign(value, forKey: key, in: core)
        }
        // The relationship sets positions itself, and its statements the tenant.
        let setBefore = Set(
            (link.positions.map(\.column) + [helper.tenantColumn].compactMap(\.self)).map {
                helper.entity.attributes[$0].name
            })
        let missing = (relationship.model.helper?.requiredPayload ?? []).filter {
            given[$0] == nil && !setBefore.contains($0)
        }
        guard missing.isEmpty else {
            throw KindredError(
                .missingValue,
                """
                \(relationship.source.name).\(relationship.model.name) goes through \(helper.name), which \
                requires \(missing.joined(separator: ", ")); use insert(_:through:)
                """,
                entity: helper.name.description,
                key: missing[0]
            )
        }
        return assignments.written.columns.isEmpty ? nil : assignments.written
    }

    /// Throws for a label that an enum among the helper's columns does not have.
    ///
    /// Sends nothing, unless the model does not know the label, which may have been added since: one SELECT reads the labels
    /// then.
    func requireLabels(
        of given: [String: (any PropertyValue)?], through link: RelationshipRuntime.HelperLink
    ) async throws {
        let helper = link.entity
        for (key, value) in given.sorted(by: { $0.key < $1.key }) {
            guard let column = helper.attributeIndex(of: key), helper.entity.attributes[column].enumLabels != nil,
                let value = try helper.attributeValue(value, at: column),
                helper.misfit(value, at: column)?.code == .unknownLabel
            else { continue }
            try await EnumLabels(core).read([column], of: helper)
            guard let problem = helper.misfit(value, at: column) else { continue }
            let (name, message) = (
                helper.name.description, "\(helper.name).\(key) cannot have the value: \(problem.reason)"
            )
            throw KindredError(
                problem.code, message, entity: name, key: key,
                problems: [KindredError.Problem(problem.code, message, object: nil, entity: name, key: key)])
        }
    }
}
