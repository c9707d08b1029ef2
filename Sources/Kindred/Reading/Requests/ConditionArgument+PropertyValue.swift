import KindredPostgres

extension ConditionArgument {
    init(_ value: (any PropertyValue)?) throws {
        guard let value else {
            self = .null
            return
        }
        switch try value.propertyContent {
        case .value(nil): self = .null
        case .value(let value?): self = .value(value)
        case .object(let object): self = .object(object)
        case .objectID(let id): self = .object(try Self.stored(id))
        case .collection(let contents): self = try Self.collection(contents)
        case .set(let set):
            throw KindredError(
                .invalidCondition,
                "\(set) cannot be an argument of a condition; give its objects",
                key: set.name
            )
        }
    }

    /// The ID of a row, which the database knows.
    private static func stored(_ id: ObjectID) throws -> ObjectID {
        if id.isTemporary { throw KindredError(.invalidObjectID, of: id) }
        return id
    }

    private static func collection(_ contents: [DatabaseObject.PropertyContent]) throws -> ConditionArgument {
        var values: [PostgresValue?] = []
        var objects: [any ObjectReference] = []
        for content in contents {
            switch content {
            case .value(let value): values.append(value)
            case .object(let object): objects.append(object)
            case .objectID(let id): objects.append(try stored(id))
            case .collection, .set:
                if let bytes = content.bytes {
                    values.append(.bytes(bytes))
                    continue
                }
                throw KindredError(
                    .invalidCondition, "A collection of collections cannot be an argument of a condition")
            }
        }
        if objects.isEmpty { return .list(values) }
        guard values.isEmpty else {
            throw KindredError(
                .invalidCondition, "A collection of objects and values cannot be an argument of a condition")
        }
        return .objects(objects)
    }
}
