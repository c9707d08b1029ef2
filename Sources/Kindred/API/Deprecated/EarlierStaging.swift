// `insert` staged on a context and wrote at once on a set; a context's is `add`.
extension DatabaseContext {
    /// Makes a new object in memory, under its earlier name.
    @available(*, deprecated, renamed: "add(_:_:)")
    @discardableResult
    public func insert(
        _ entityName: String, _ values: [String: (any PropertyValue)?] = [:]
    ) throws -> DatabaseObject {
        try add(entityName, values)
    }

    /// Makes a new object of a typed class in memory, under its earlier name.
    @available(*, deprecated, renamed: "add(_:with:)")
    @discardableResult
    public func insert<Object: TypedObject>(
        _ type: Object.Type, with fill: (inout NewValues<Object>) throws -> Void = { _ in }
    ) throws -> Object {
        try add(type, with: fill)
    }

    /// Makes a new object with the values of a generated `new`, under its earlier name.
    @available(*, deprecated, renamed: "add(_:)")
    @discardableResult
    public func insert<Object: TypedObject>(_ new: NewValues<Object>) throws -> Object { try add(new) }

    /// Makes a new object with the values of a patch, under its earlier name.
    @available(*, deprecated, renamed: "add(_:_:allowing:rounding:)")
    @discardableResult
    public func insert(
        _ entityName: String, _ patch: ObjectPatch, allowing keys: [String]? = nil, rounding: Bool = false
    ) throws -> DatabaseObject {
        try add(entityName, patch, allowing: keys, rounding: rounding)
    }

    /// Makes a new object of a typed class with the values of a patch, under its earlier name.
    @available(*, deprecated, renamed: "add(_:_:allowing:rounding:)")
    @discardableResult
    public func insert<Object: TypedObject>(
        _ type: Object.Type, _ patch: ObjectPatch, allowing keys: [String]? = nil, rounding: Bool = false
    ) throws -> Object {
        try add(type, patch, allowing: keys, rounding: rounding)
    }

    /// Makes a new object of a typed class with the values of a patch for some properties, under its earlier name.
    @available(*, deprecated, renamed: "add(_:_:allowing:rounding:)")
    @discardableResult
    public func insert<Object: TypedObject>(
        _ type: Object.Type, _ patch: ObjectPatch, allowing keyPaths: [PartialKeyPath<Object>], rounding: Bool = false
    ) throws -> Object {
        try add(type, patch, allowing: keyPaths, rounding: rounding)
    }
}
