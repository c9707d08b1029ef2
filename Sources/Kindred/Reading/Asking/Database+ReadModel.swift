import KindredPostgres
import KindredSchema

extension Database {
    /// Reads the catalog again, in one round trip, and replaces the model for contexts made from now on.
    ///
    /// Throws `KindredError` `.classMismatch` if registered classes do not match the new model, or `.keysChanged` if keys lead
    /// elsewhere; it is discarded then.
    ///
    /// - Parameter keepsEqual: whether an equal model stays, so that contexts go on to share one.
    package func readModel(keepingEqual keepsEqual: Bool = false) async throws -> DatabaseSchema {
        if let schemaTenants {
            let found = try await schemaTenants.read(from: client, overrides: overrides, names: names)
            try replaceRuntime { keepsEqual && found.schema.hasSameContent(as: $0.schema) ? $0 : found }
            return found.schema
        }
        return try await SchemaReader.readServing(from: client, overrides: overrides) { found in
            let schema = try found.servingFilters()
            try names?.check(schema)
            try replaceRuntime { runtime in
                if keepsEqual, schema.hasSameContent(as: runtime.schema) { return runtime }
                return SchemaRuntime(schema, classes: runtime.registered)
            }
            return schema
        }
    }

    /// Reads the catalog again for the followers of changes, and replaces the model for contexts made from now on where the
    /// classes fit.
    ///
    /// Throws `SchemaError` for annotations that are wrong: the former model stays.
    ///
    /// - Parameter known: the model that it returned last.
    /// - Returns: the model of the tables as they are, and why contexts do not get it. Entities whose classes do not fit have
    ///   no class there.
    package func readPresentModel(
        after known: SchemaRuntime
    ) async throws -> (model: SchemaRuntime, refusal: KindredError?) {
        if schemaTenants != nil {
            _ = try await readModel(keepingEqual: true)
            return (runtime, nil)
        }
        return try await SchemaReader.readServing(from: client, overrides: overrides) { found in
            let (schema, current) = (try found.servingFilters(), runtime)
            if schema.hasSameContent(as: current.schema) { return (current, nil) }
            let made =
                schema.hasSameContent(as: known.schema) ? known : SchemaRuntime(schema, classes: current.registered)
            do {
                try names?.check(schema)
                try replaceRuntime { _ in made }
                return (made, nil)
            } catch let error as KindredError {
                return (made, error)
            }
        }
    }
}
