public import KindredPostgres
import KindredSchema

// What generated properties call. A property is known by its number in the class's mapping, which was resolved to the
// column's position when the class was registered.
extension DatabaseObject {
    /// The loaded value of a property that may not be NULL; for generated code.
    ///
    /// Sends nothing. A stored object always has one: the class was checked against the catalog when it was registered, and
    /// rows that do not fit it any more are errors when they come. Where nil is staged, which ``DatabaseContext/save()``
    /// will refuse, the stored value is what there is. A new object that has not been given a value yet has none, and to
    /// read it ends the program with a message that names the property: give it one first, or read `object["column"]`,
    /// which is nil then.
    public func readProperty<Value: PostgresDecodable>(_ number: Int, as type: Value.Type = Value.self) -> Value {
        required(number)
    }

    /// The loaded value of a property that may be NULL; for generated code.
    public func readProperty<Value: PostgresDecodable>(_ number: Int, as type: Value.Type = Value.self) -> Value? {
        optional(number)
    }

    // Of common types without a type parameter: a caller in another package would look up the metadata of `Value?` each
    // time, which costs more than the value.

    /// The loaded value of a property that is a whole number; for generated code.
    public func readProperty(_ number: Int) -> Int { required(number) }

    /// The loaded value of a property that is a whole number or NULL; for generated code.
    public func readProperty(_ number: Int) -> Int? { optional(number) }

    /// The loaded value of a property that is a text; for generated code.
    public func readProperty(_ number: Int) -> String { required(number) }

    /// The loaded value of a property that is a text or NULL; for generated code.
    public func readProperty(_ number: Int) -> String? { optional(number) }

    /// The loaded value of a property that is a floating-point number; for generated code.
    public func readProperty(_ number: Int) -> Double { required(number) }

    /// The loaded value of a property that is a floating-point number or NULL; for generated code.
    public func readProperty(_ number: Int) -> Double? { optional(number) }

    /// The loaded value of a property that is a truth value; for generated code.
    public func readProperty(_ number: Int) -> Bool { required(number) }

    /// The loaded value of a property that is a truth value or NULL; for generated code.
    public func readProperty(_ number: Int) -> Bool? { optional(number) }

    /// The loaded value of a property that is a decimal number; for generated code.
    public func readProperty(_ number: Int) -> PostgresNumeric { required(number) }

    /// The loaded value of a property that is a decimal number or NULL; for generated code.
    public func readProperty(_ number: Int) -> PostgresNumeric? { optional(number) }

    private func required<Value: PostgresDecodable>(_ number: Int) -> Value {
        if let value: Value = optional(number) { return value }
        return storedValue(number) { try Value(postgresValue: $0) }
    }

    private func optional<Value: PostgresDecodable>(_ number: Int) -> Value? {
        let position = layout.positions[number]
        do {
            // Read where it is: to take the row out costs two changes of its reference count.
            return try withState { try $0.row.decode(position) }
        } catch {
            return readableValue(number) { try Value(postgresValue: $0) }
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
        return storedValue(number) { try Self.elements(try PostgresArray(postgresValue: $0)) }
    }

    /// The loaded elements of an array property that may be NULL; for generated code.
    public func readArray<Element: PostgresDecodable>(
        _ number: Int,
        of type: Element.Type = Element.self
    ) -> [Element?]? {
        guard let array: PostgresArray = readProperty(number) else { return nil }
        do {
            return try Self.elements(array)
        } catch {
            return readableValue(number) { try Self.elements(try PostgresArray(postgresValue: $0)) }
        }
    }

    private static func elements<Element: PostgresDecodable>(_ array: PostgresArray) throws -> [Element?] {
        try array.elements.map { try $0.map { try Element(postgresValue: $0) } }
    }

    /// Stages a value for a property, to be written by `save()`; for generated code.
    ///
    /// Arrays with as many elements as before keep their dimensions and lower bounds.
    public func writeProperty(_ number: Int, _ value: (some PostgresEncodable)?) {
        let position = layout.positions[number]
        guard let new = try? value?.postgresValue, new.mayHaveShape else { return stage(value, at: position) }
        stage(new.shaped(like: withState { try? $0.row[position] }), at: position)
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
        // Only contexts can make objects, and they make those of a typed class for the entity that it is registered for:
        // what the database holds has no part in it.
        guard let layout = runtime.layout else { fatalError("\(Self.self) is not registered for \(runtime.name)") }
        return layout
    }

    private func relationship(_ number: Int) -> RelationshipRuntime {
        // A class whose mapping has a relationship that the database has not is refused when it is registered, and numbers
        // stand in generated code: what the database holds has no part in it.
        guard let relationship = layout.relationships[number] else {
            fatalError("Property \(number) of \(Self.self) is no relationship: generate the classes again")
        }
        return relationship
    }

    /// A property's stored value, where what is staged for it is NULL.
    private func storedValue<Value>(_ number: Int, _ make: (PostgresValue) throws -> Value) -> Value {
        let position = layout.positions[number]
        if !isInserted, let value = try? storedRow[position], let made = try? make(value) { return made }
        // Only a new object has no value: every row that comes from the server passes through `EntityRows`, which refuses
        // NULL and bytes that cannot be read, and nothing else makes rows of stored objects. A type that is not optional
        // leaves no other way out.
        let name = entity.attributes[position].name
        preconditionFailure("\(runtime.name).\(name) of a new object has no value yet; object[\"\(name)\"] may be nil")
    }

    /// A property's stored value, where its type does not have what the program has staged by the column's name.
    private func readableValue<Value>(_ number: Int, _ make: (PostgresValue) throws -> Value) -> Value? {
        let position = layout.positions[number]
        do {
            return try storedRow[position].map(make)
        } catch {
            // No bytes that a server sends get here: `EntityRows` has refused those that cannot be read, of a server that
            // is broken or hostile too, and a codec of the program's own has read the value there once.
            fatalError("\(runtime.name).\(entity.attributes[position].name) cannot be read: \(error)")
        }
    }
}
