extension TypedObject {
    /// Stages the values of a patch whose keys must name the given properties: `apply(patch, allowing: [\.title,
    /// \.price])`.
    ///
    /// A key is the name of the property or of its column. Sends nothing. Throws as
    /// ``DatabaseObject/apply(_:allowing:rounding:)`` does, and `KindredError` `.unknownKey` for a key path that is no
    /// property.
    public func apply(
        _ patch: ObjectPatch, allowing keyPaths: [PartialKeyPath<Self>], rounding: Bool = false
    ) throws {
        try apply(patch, allowing: try Self.names(of: keyPaths), rounding: rounding)
    }

    /// The keys of properties.
    fileprivate static func names(of keyPaths: [PartialKeyPath<Self>]) throws -> [String] {
        try keyPaths.map { try ColumnPath(.own).appending($0, of: Self.self).checkedKeys()[0] }
    }
}

extension DatabaseContext {
    /// Makes a new object of a typed class in memory with the values of a patch whose keys must name the given
    /// properties.
    ///
    /// Sends nothing. Throws as ``DatabaseObject/apply(_:allowing:rounding:)`` does; nothing is staged then.
    @discardableResult
    public func add<Object: TypedObject>(
        _ type: Object.Type, _ patch: ObjectPatch, allowing keyPaths: [PartialKeyPath<Object>], rounding: Bool = false
    ) throws -> Object {
        try add(type, patch, allowing: try Object.names(of: keyPaths), rounding: rounding)
    }
}
