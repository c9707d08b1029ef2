import KindredPostgres
import Synchronization

extension Database {
    /// Registers hooks for an entity's objects, in every context of the database; they run after hooks registered
    /// earlier.
    ///
    /// Throws `KindredError` `.unknownEntity` with the nearest names. Sends nothing.
    public func addHooks(_ hooks: ObjectHooks, to entityName: String) throws {
        // The template's model has the shared tables, too.
        let model = schemaTenants?.templateModel ?? runtime
        registeredHooks.add(hooks, for: try model.entity(named: entityName).name)
    }

    /// Registers typed classes; contexts made from now on create their entities' objects as instances of them.
    ///
    /// Existing contexts keep their classes, so that an object never changes its class. Sends nothing. Throws
    /// `KindredError` `.classMismatch` with all differences between the classes and the database: missing columns and
    /// relationships, other types, nullable columns without an optional in the class. Columns without a property are
    /// fine.
    ///
    /// With tenants that have schemas of their own it throws `.invalidRequest`: give the classes to `connect`.
    public func register(_ classes: [any TypedObject.Type]) throws {
        guard schemaTenants == nil else {
            throw KindredError(
                .invalidRequest, "The classes of tenants with schemas of their own are given to Database.connect")
        }
        try replaceRuntime { runtime in
            var known = runtime.registered
            for type in classes { known.insert(EntityClass(type)) }
            return SchemaRuntime(runtime.schema, classes: known)
        }
    }

    /// Checks typed classes against the model as last read, without registering them: `validate(Person.self, Email.self)`.
    ///
    /// Sends nothing. Throws as ``register(_:)`` does.
    public func validate(_ classes: any TypedObject.Type...) throws {
        _ = try SchemaRuntime(schema, classes: TypedClasses(classes.map { EntityClass($0) })).checked()
    }
}
