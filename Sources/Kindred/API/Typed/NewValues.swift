public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The initial values of a new object of a typed class, each under its property's name.
///
/// ```swift
/// let smith = try await context.create(Person.self) {
///     $0.surname = "Smith"
///     $0.born = nil
/// }
/// let email = try context.add(Email.new(address: "smith@example.org"))
/// ```
///
/// Unset properties get the database's defaults. A to-one relationship whose foreign key the new row holds takes the
/// object itself. The generated `new` has a parameter for each column, and the compiler demands the values that the
/// database does not fill.
@dynamicMemberLookup
public struct NewValues<Object: TypedObject>: Sendable {
    /// The values by property, each once.
    private(set) var given: [NumberedValue] = []
    /// A key path that is no property.
    private var problem: KindredError?

    /// No values yet.
    public init() {
        given.reserveCapacity(Object.mapping.attributeCount)
    }

    /// Gives a value to a property by its number in the class's mapping, unless it is nil; for generated code.
    public mutating func setProperty(_ number: Int, _ value: (some PropertyValue)?) {
        if let value { give(value, to: number) }
    }

    // Common types without a type parameter: a generic call from another package looks up the metadata of `Value?` each
    // time, which costs more than the value.

    /// Gives a whole number to a property, unless it is nil; for generated code.
    public mutating func setProperty(_ number: Int, _ value: Int?) {
        if let value { give(value, to: number) }
    }

    /// Gives a text to a property, unless it is nil; for generated code.
    public mutating func setProperty(_ number: Int, _ value: String?) {
        if let value { give(value, to: number) }
    }

    /// Gives a floating-point number to a property, unless it is nil; for generated code.
    public mutating func setProperty(_ number: Int, _ value: Double?) {
        if let value { give(value, to: number) }
    }

    /// Gives a truth value to a property, unless it is nil; for generated code.
    public mutating func setProperty(_ number: Int, _ value: Bool?) {
        if let value { give(value, to: number) }
    }

    /// Gives an object to a to-one relationship, or its key to the columns of the foreign key; for generated code.
    ///
    /// Foreign keys may share a column, such as a tenant's: two keys that give it different values are an error of the call that
    /// takes the values.
    ///
    /// - Parameters:
    ///   - number: the number of the relationship's property.
    ///   - columns: the numbers of the properties of the foreign key's columns, in the order of the other table's key.
    ///   - value: the object or the key; nil changes nothing.
    public mutating func setToOne(_ number: Int, columns: [Int], _ value: some OptionalToOneValue) {
        switch value.toOneContent?.kind {
        case nil: break
        case .object(let object): give(object, to: number)
        case .key(let values):
            for (column, value) in zip(columns, values) { give(value, toShared: column) }
        }
    }

    private mutating func give(_ value: any PropertyValue, toShared column: Int) {
        guard let known = given.first(where: { $0.number == column })?.value else { return give(value, to: column) }
        if case .value(let first)? = try? known.propertyContent, case .value(let second)? = try? value.propertyContent,
            first == second
        {
            return
        }
        let (name, properties) = (Object.mapping.entity.description, Object.mapping.properties)
        let key = properties.indices.contains(column) ? properties[column].key : nil
        problem = KindredError(
            .wrongType, "Two keys give \(name).\(key ?? "\(column)") different values", entity: name, key: key)
    }

    private mutating func give(_ value: any PropertyValue, to number: Int) {
        given.append(NumberedValue(number: number, value: value))
    }

    private subscript(keyPath: PartialKeyPath<Object>) -> (any PropertyValue)? {
        get {
            guard let number = Object.mapping.number(keyPath) else { return nil }
            return given.first { $0.number == number }?.value
        }
        set {
            guard let number = Object.mapping.number(keyPath) else {
                let name = Object.mapping.entity.description
                problem = KindredError(
                    .unknownKey, "\(keyPath) is not a column or relationship of \(name)", entity: name)
                return
            }
            if let place = given.firstIndex(where: { $0.number == number }) {
                given[place].value = newValue
            } else {
                given.append(NumberedValue(number: number, value: newValue))
            }
        }
    }

    /// The value that was given; a date in the form of a column of moments.
    private func value<Value>(of keyPath: PartialKeyPath<Object>) -> Value? {
        let value = self[keyPath]
        return value as? Value ?? (value as? Date).flatMap { PostgresTimestamp($0) as? Value }
    }

    /// The value of a column, as it was given; nil where none was.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value? {
        get { value(of: keyPath) }
        set { self[keyPath] = newValue }
    }

    /// The value of a column that may be NULL, as it was given.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value?>) -> Value? {
        get { value(of: keyPath) }
        set { self[keyPath] = newValue }
    }

    /// The value of a lazy column.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value>>) -> Value? {
        get { value(of: keyPath) }
        set { self[keyPath] = newValue }
    }

    /// The value of a lazy column that may be NULL.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value?>>) -> Value? {
        get { value(of: keyPath) }
        set { self[keyPath] = newValue }
    }

    /// A date of Foundation's for a column of moments.
    @_disfavoredOverload
    public subscript(dynamicMember keyPath: KeyPath<Object, PostgresTimestamp>) -> Date? {
        @available(*, unavailable, message: "a date is given as one, and read as a PostgresTimestamp")
        get { nil }
        set { self[keyPath] = newValue }
    }

    /// A date of Foundation's for a column of moments that may be NULL.
    @_disfavoredOverload
    public subscript(dynamicMember keyPath: KeyPath<Object, PostgresTimestamp?>) -> Date? {
        @available(*, unavailable, message: "a date is given as one, and read as a PostgresTimestamp")
        get { nil }
        set { self[keyPath] = newValue }
    }

    /// The object at the other end of a to-one relationship.
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target>>) -> Target? {
        get { self[keyPath] as? Target }
        set { self[keyPath] = newValue }
    }

    /// The object at the other end of an optional to-one relationship.
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target?>>) -> Target? {
        get { self[keyPath] as? Target }
        set { self[keyPath] = newValue }
    }
}

extension NewValues {
    /// Lets a closure give values.
    init(_ fill: (inout NewValues) throws -> Void) throws {
        self.init()
        try fill(&self)
    }

    /// The values by number.
    ///
    /// Throws `.unknownKey` if one was given for a key path or a number that is no property's.
    func checked() throws -> [NumberedValue] {
        if let problem { throw problem }
        let count = Object.mapping.properties.count
        // By place: a closure would copy each value.
        for place in given.indices where given[place].number < 0 || given[place].number >= count {
            let (name, number) = (Object.mapping.entity.description, given[place].number)
            throw KindredError(.unknownKey, "No property of \(name) has the number \(number)", entity: name)
        }
        return given
    }

    /// The values by the keys of their properties; errors name a relationship, and not the property's stable key.
    func named(_ entity: EntityRuntime) throws -> [String: (any PropertyValue)?] {
        var named: [String: (any PropertyValue)?] = [:]
        for value in try checked() {
            let key = Object.mapping.properties[value.number].pathKey
            named.updateValue(value.value, forKey: entity.relationship(ofProperty: key)?.model.name ?? key)
        }
        return named
    }
}
