public import KindredPostgres
import KindredSchema

// What generated properties call. A property is known by its number in the class's mapping, which was resolved to the
// column's position when the class was registered.
extension DatabaseObject {
    /// The loaded value of a property that may not be NULL; for generated code.
    ///
    /// Sends nothing. The class was checked against the catalog when it was registered; a value that is missing all the
    /// same belongs to a new object that has not been given one yet, or to a column that changed since, and ends the
    /// program with a message that names the property. `object["column"]` never does that.
    @_specialize(where Value == Int)
    @_specialize(where Value == String)
    @_specialize(where Value == Double)
    @_specialize(where Value == Bool)
    @_specialize(where Value == PostgresNumeric)
    public func readProperty<Value: PostgresDecodable>(_ number: Int, as type: Value.Type = Value.self) -> Value {
        if let value: Value = readProperty(number) { return value }
        missing(number)
    }

    /// The loaded value of a property that may be NULL; for generated code.
    @_specialize(where Value == Int)
    @_specialize(where Value == String)
    @_specialize(where Value == Double)
    @_specialize(where Value == Bool)
    @_specialize(where Value == PostgresNumeric)
    public func readProperty<Value: PostgresDecodable>(_ number: Int, as type: Value.Type = Value.self) -> Value? {
        let position = layout.positions[number]
        do {
            return try row.decode(position)
        } catch {
            // The class was checked against the catalog: the column's type has changed under a running program.
            fatalError("\(runtime.name).\(entity.attributes[position].name) cannot be read: \(error)")
        }
    }

    /// The loaded elements of an array property, NULL as nil; for generated code.
    ///
    /// An array of several dimensions is read row by row.
    public func readArray<Element: PostgresDecodable>(
        _ number: Int,
        of type: Element.Type = Element.self
    ) -> [Element?] {
        if let elements: [Element?] = readArray(number) { return elements }
        missing(number)
    }

    /// The loaded elements of an array property that may be NULL; for generated code.
    public func readArray<Element: PostgresDecodable>(
        _ number: Int,
        of type: Element.Type = Element.self
    ) -> [Element?]? {
        guard let array: PostgresArray = readProperty(number) else { return nil }
        do {
            return try array.elements.map { try $0.map { try Element(postgresValue: $0) } }
        } catch {
            fatalError("\(runtime.name).\(entity.attributes[layout.positions[number]].name) cannot be read: \(error)")
        }
    }

    /// Stages a value for a property, to be written by `save()`; for generated code.
    public func writeProperty(_ number: Int, _ value: (some PostgresEncodable)?) {
        stage(value, at: layout.positions[number])
    }

    /// The to-one relationship of a property; for generated code.
    public func toOneProperty<Target: ToOneTarget>(_ number: Int) -> ToOne<Target> {
        ToOne(self, relationship(number))
    }

    /// The to-many relationship of a property; for generated code.
    public func toManyProperty<Member: DatabaseObject>(_ number: Int) -> ToMany<Member> {
        ToMany(self, relationship(number))
    }

    private var layout: TypedLayout {
        // Contexts make objects of a typed class only for entities that it is registered for.
        guard let layout = runtime.layout else { fatalError("\(Self.self) is not registered for \(runtime.name)") }
        return layout
    }

    private func relationship(_ number: Int) -> RelationshipRuntime {
        guard let relationship = layout.relationships[number] else {
            fatalError("Property \(number) of \(Self.self) is no relationship: generate the classes again")
        }
        return relationship
    }

    private func missing(_ number: Int) -> Never {
        let name = entity.attributes[layout.positions[number]].name
        fatalError("\(runtime.name).\(name) has no value yet, or has become NULL: read it with object[\"\(name)\"]")
    }
}
