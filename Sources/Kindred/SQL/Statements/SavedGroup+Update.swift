import KindredPostgres

extension SavedGroup {
    /// `UPDATE … FROM unnest(…)`: each row gets its own values; the answer's last column is the row's place in the group.
    func update() throws -> Statement {
        let keys = ColumnArrays(entity: entity, columns: entity.key)
        let versions = ColumnArrays(entity: entity, columns: entity.version.map { [$0.position] } ?? [])
        let values = ColumnArrays(entity: entity, columns: columns)
        let text = try entity.text("save update \(columns)") {
            let set = try zip(columns, values.expressions("c")).map { "\(try entity.quoted($0)) = \($1)" }
            let found = try zip(entity.versionedKey, keys.expressions("k") + versions.expressions("v"))
                .map { "t.\(try entity.quoted($0)) = \($1)" }
            let names = keys.names("k") + versions.names("v") + values.names("c") + ["place"]
            let source = [
                keys.parameters(first: 1), versions.parameters(first: 1 + entity.key.count),
                values.parameters(first: 1 + entity.versionedKey.count),
            ].filter { !$0.isEmpty }
            return """
                UPDATE \(try entity.quotedName) AS t \
                SET \(set.joined(separator: ", "))\(try entity.versionAssignment(alias: "t")) \
                FROM unnest(\(source.joined(separator: ", "))) WITH ORDINALITY AS new(\(names.joined(separator: ", "))) \
                WHERE \(found.joined(separator: " AND ")) \
                RETURNING \(try entity.selectList(alias: "t")), new.place
                """
        }
        var bindings = Bindings()
        try keys.append(objects.map(\.stored), to: &bindings)
        try versions.append(objects.map(\.base), to: &bindings)
        try values.append(objects.map(\.row), to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// Gives the returned rows to the objects; throws if one of them had none.
    ///
    /// - Parameter isRelease: whether the objects' own changes are still to be written.
    func applyUpdate(_ result: QueryResult, in context: DatabaseContext, isRelease: Bool = false) throws {
        let width = entity.attributeColumns.count
        var missing = Set(objects.indices)
        let start = objects.startIndex
        let rows = try EntityRows(result, of: entity)
        for position in 0..<result.count {
            guard case .integer(let place) = try result.value(row: position, column: width),
                let index = Int(exactly: place).map({ start + $0 - 1 }), objects.indices.contains(index)
            else { continue }
            missing.remove(index)
            let row = try rows[position]
            if isRelease {
                try context.apply(row, to: objects[index].object)
            } else {
                try context.applySaved(row, to: objects[index])
            }
        }
        guard missing.isEmpty else { throw UnwrittenRows(objects: missing.sorted().map { objects[$0].object }) }
    }
}
