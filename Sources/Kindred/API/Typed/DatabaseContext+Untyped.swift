// Dictionaries of key paths, whose values have no types: each is compiled whatever its column holds.
extension DatabaseContext {
    /// Not available: the values of a dictionary have no types.
    @available(
        *, unavailable,
        message:
            "a dictionary does not check the types of its values: write create(Type.self) { $0.name = … }, or Type.new(…)"
    )
    @_disfavoredOverload
    public func create<Object: TypedObject>(
        _ type: Object.Type, _ values: [PartialKeyPath<Object>: Any?]
    ) async throws -> Object { throw untyped }

    /// Not available: the values of a dictionary have no types.
    @available(
        *, unavailable,
        message: "a dictionary does not check the types of its values: write upsert(Type.new(…), on: …)"
    )
    @_disfavoredOverload
    public func upsert<Object: TypedObject>(
        _ type: Object.Type, _ values: [PartialKeyPath<Object>: Any?], on key: String, and further: String...
    ) async throws -> Object { throw untyped }

    /// Not available: the values of a dictionary have no types.
    @available(
        *, unavailable,
        message:
            "a dictionary does not check the types of its values: write add(Type.self) { $0.name = … }, or Type.new(…)"
    )
    @_disfavoredOverload
    public func add<Object: TypedObject>(
        _ type: Object.Type, _ values: [PartialKeyPath<Object>: Any?]
    ) throws -> Object { throw untyped }

    private var untyped: KindredError { KindredError(.invalidRequest, "A dictionary of key paths is not available") }
}

extension FetchRequest where Object: TypedObject {
    /// Not available: the values of a dictionary have no types.
    @available(
        *, unavailable,
        message: "a dictionary does not check the types of its values: write update { $0.name = … }"
    )
    @_disfavoredOverload
    public func update(_ values: (Columns<Object>) throws -> [PartialKeyPath<Object>: Any?]) async throws -> Int { 0 }
}
