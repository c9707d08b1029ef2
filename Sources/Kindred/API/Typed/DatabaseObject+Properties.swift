public import KindredPostgres
import KindredSchema

// Called by generated properties. A property is identified by its number in the class's mapping, which registration
// resolved to the column's position. These functions cannot throw: a property without a value returns its type's
// neutral value.
extension DatabaseObject {
    /// The loaded value of a property that may not be NULL; for generated code.
    ///
    /// Sends nothing. A stored object always has a value: registration checked the class against the catalog, and later
    /// rows that do not match throw when they are read. If nil is staged, which `DatabaseContext.save()` will refuse,
    /// the stored value is returned. A new object without a value, and a discarded one, returns the type's
    /// `NeutralValue.neutralValue`: zero, an empty text, the first label; `object["column"]` is nil then.
    public func readProperty<Value: PostgresDecodable & NeutralValue>(
        _ number: Int, as type: Value.Type = Value.self
    ) -> Value {
        required(number)
    }

    /// The loaded value of a property that may be NULL; for generated code.
    public func readProperty<Value: PostgresDecodable>(_ number: Int, as type: Value.Type = Value.self) -> Value? {
        optional(number)
    }

    // Common types without a type parameter: a generic call from another package looks up the metadata of `Value?` each
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

    private func required<Value: PostgresDecodable & NeutralValue>(_ number: Int) -> Value {
        if let value: Value = optional(number) { return value }
        return storedValue(number) { try Value(postgresValue: $0) } ?? .neutralValue
    }

    private func optional<Value: PostgresDecodable>(_ number: Int) -> Value? {
        let position = column(number)
        var isLeftOut = false
        do {
            // Reads in place: copying the row would cost two changes of its reference count.
            let value: Value? = try withState { state in
                if let value: Value = try state.row.decode(position) { return value }
                isLeftOut = state.row.isLeftOut(at: position)
                return nil
            }
            if isLeftOut { noteLeftOut(position) }
            return value
        } catch {
            return storedValue(number) { try Value(postgresValue: $0) }
        }
    }

    /// Notes the read of a property that was omitted and is not loaded, which shows a neutral value.
    ///
    /// A property does not know its caller's line: its own name is the place.
    private func noteLeftOut(_ position: Int) {
        let property = runtime.propertyName(ofAttribute: position) ?? entity.attributes[position].name
        let place = "\(type(of: self)).\(property)"
        core.note(
            mistake: runtime.notLoaded(position, readAt: place), at: SourcePlace(fileID: place, line: 1))
    }

    /// The loaded elements of an array property, NULL as nil; for generated code.
    ///
    /// An array of several dimensions is read row by row. Without a value the array is empty.
    public func readArray<Element: PostgresDecodable>(
        _ number: Int,
        of type: Element.Type = Element.self
    ) -> [Element?] {
        if let elements: [Element?] = readArray(number) { return elements }
        return storedValue(number) { try Self.elements(try PostgresArray(postgresValue: $0)) } ?? []
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
            return storedValue(number) { try Self.elements(try PostgresArray(postgresValue: $0)) }
        }
    }

    /// The loaded elements of an array property without NULL among them; for generated code.
    ///
    /// A row with a NULL there is not read: `PostgresError` `.decodingFailed`. An array of several dimensions is read row by row.
    /// Without a value the array is empty.
    public func readElements<Element: PostgresDecodable>(
        _ number: Int,
        of type: Element.Type = Element.self
    ) -> [Element] {
        (readArray(number) as [Element?]).compactMap(\.self)
    }

    /// The loaded elements of an array property that may be NULL, without NULL among them; for generated code.
    public func readElements<Element: PostgresDecodable>(
        _ number: Int,
        of type: Element.Type = Element.self
    ) -> [Element]? {
        (readArray(number) as [Element?]?)?.compactMap(\.self)
    }

    private static func elements<Element: PostgresDecodable>(_ array: PostgresArray) throws -> [Element?] {
        try array.elements.map { try $0.map { try Element(postgresValue: $0) } }
    }

    /// Stages a value for a property, to be written by `save()`; for generated code.
    ///
    /// Arrays with an unchanged number of elements keep their dimensions and lower bounds. A value of the wrong type,
    /// and a number without a column, is a problem that the next `save()` reports.
    public func writeProperty(_ number: Int, _ value: (some PostgresEncodable)?) {
        let position = column(number)
        guard position >= 0 else { return keep(noProperty("column"), forKey: "property \(number)") }
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

    /// The position of a property's column; -1, which no row has, for an unknown number.
    private func column(_ number: Int) -> Int {
        guard let positions = runtime.layout?.positions, positions.indices.contains(number) else { return -1 }
        return positions[number]
    }

    private func relationship(_ number: Int) -> RelationshipRuntime? {
        guard let relationships = runtime.layout?.relationships, relationships.indices.contains(number) else {
            return nil
        }
        return relationships[number]
    }

    /// A property's stored value, if its type cannot represent the staged one; nil if there is none.
    private func storedValue<Value>(_ number: Int, _ make: (PostgresValue) throws -> Value) -> Value? {
        guard let value = try? storedRow[column(number)] else { return nil }
        return try? make(value)
    }
}
