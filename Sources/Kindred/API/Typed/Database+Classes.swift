extension Database {
    /// Registers typed classes; contexts made from now on make their entities' objects as these.
    ///
    /// Contexts that exist keep the classes they were made with, so that an object never changes its class. Sends
    /// nothing. Throws `KindredError` `.classMismatch` with everything in which the classes and the database differ:
    /// missing columns and relationships, other types, columns that may be NULL where the class has no optional. Columns
    /// that a class does not know are fine.
    public func register(_ classes: [any TypedObject.Type]) throws {
        try replaceRuntime { runtime in
            var known = runtime.registered
            for type in classes { known.insert(type) }
            return SchemaRuntime(runtime.schema, classes: known)
        }
    }

    /// Checks typed classes against the model as last read, without registering them: `validate(Person.self, Email.self)`.
    ///
    /// Sends nothing. Throws as ``register(_:)`` does.
    public func validate(_ classes: any TypedObject.Type...) throws {
        _ = try SchemaRuntime(schema, classes: TypedClasses(classes)).checked()
    }
}
