import KindredSchema

extension Database {
    /// Reads the catalog again, in one round trip, and replaces the model for contexts made from now on.
    ///
    /// Throws `KindredError` `.classMismatch` if registered classes do not match the new model, which is discarded then.
    func readModel() async throws -> DatabaseSchema {
        try await SchemaReader.read(from: client, overrides: overrides) { schema in
            try replaceRuntime { SchemaRuntime(schema, classes: $0.registered) }
            return schema
        }
    }
}
