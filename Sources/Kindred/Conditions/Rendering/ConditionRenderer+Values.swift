import KindredPostgres

// Binds values as the type of the other operand.
extension ConditionRenderer {
    /// Appends a value as a parameter of the given type, and returns the parameter.
    ///
    /// A number that the type cannot represent exactly keeps its own type, so that the comparison stays correct.
    mutating func bind(_ value: PostgresValue?, as target: Scalar) throws -> String {
        guard let value else {
            try bindings.append(nil, as: target.type.type.isKnown ? target.type.type : nil)
            return lastParameter
        }
        let type = target.type
        do {
            switch type.family {
            case .number:
                guard value.isNumber else { throw wrongType(value, for: target) }
                try appendNumber(value, as: type)
            case .enumeration:
                guard case .string = value else { throw wrongType(value, for: target) }
                // The server knows the labels, to which others may have been added.
                try bindings.append(value, as: nil)
            case .array: try append(array: value, as: target)
            case .document:
                throw KindredError(
                    .wrongType,
                    "\(target.label) is of the type \(type.typeName), which can only be compared with NULL",
                    key: target.label
                )
            case .text, .boolean, .moment, .other:
                if type.type.isKnown {
                    try bindings.append(value, as: type.type)
                } else if case .string = value {
                    try bindings.append(value, as: nil)
                } else if case .other(let raw) = value, raw.dataType == type.type {
                    try bindings.append(value, as: type.type)
                } else if value.hasParts {
                    // Sent as text, and cast to the other operand's type.
                    try bindings.append(.string(value.description), as: nil)
                    return "\(lastParameter)::\(try castName(target, value))"
                } else {
                    throw wrongType(value, for: target)
                }
            }
        } catch let error as PostgresError {
            throw KindredError(
                .wrongType,
                "\(target.label) is of the type \(type.typeName): \(error.message)",
                key: target.label,
                underlying: error
            )
        }
        return lastParameter
    }

    private mutating func appendNumber(_ value: PostgresValue, as type: ValueType) throws {
        var value = value
        // 5.0 is bound as an integer, so that an index can be used.
        if type.isInteger, case .double(let double) = value, let exact = Int64(exactly: double) {
            value = .integer(exact)
        }
        do {
            try bindings.append(value, as: type.type)
        } catch {
            try bindings.append(value, as: value.naturalType)
        }
    }

    private mutating func append(array value: PostgresValue, as target: Scalar) throws {
        guard let element = target.type.elementType else { throw wrongType(value, for: target) }
        switch value {
        case .array(let array) where element.arrayType != nil: try bindings.append(.array(array), as: target.type.type)
        case .array(let array): try bindings.append(.string(array.description), as: nil)
        case .string where element.arrayType == nil: try bindings.append(value, as: nil)
        default: throw wrongType(value, for: target)
        }
    }

    /// Appends values as one array parameter, and returns the parameter.
    mutating func bind(_ values: [PostgresValue], asArrayOf target: Scalar) throws -> String {
        let type = target.type
        if type.family == .number {
            for value in values where !value.isNumber { throw wrongType(value, for: target) }
            // The first of these types that represents all of them exactly.
            if (try? bindings.appendArray(values, of: type.type)) != nil { return lastParameter }
            // A number of the column's type is rounded to the column's precision, as a single value is.
            let held =
                type.type == .float4
                ? values.map { value in (try? Codec.float(value)).map { .double(Double($0)) } ?? value } : values
            if (try? bindings.appendArray(held, of: type.isFloat ? .float8 : .numeric)) != nil { return lastParameter }
        }
        if type.type.arrayType != nil, type.family != .enumeration, type.family != .document {
            do {
                try bindings.appendArray(values, of: type.type)
            } catch let error as PostgresError {
                throw KindredError(
                    .wrongType,
                    "\(target.label) is of the type \(type.typeName): \(error.message)",
                    key: target.label,
                    underlying: error
                )
            }
            return lastParameter
        }
        // A type without a codec: the array is sent as untyped text, and the server infers its type from the column.
        var haveParts = false
        let texts = try values.map { value in
            if case .string = value, [.enumeration, .other, .text].contains(type.family) { return value }
            guard type.family == .other, value.hasParts else { throw wrongType(value, for: target) }
            _ = try castName(target, value)
            haveParts = true
            return .string(value.description)
        }
        let array = PostgresArray(elementType: .text, elements: texts)
        try bindings.append(.string(array.description), as: nil)
        return haveParts ? "\(lastParameter)::\(Attribute.castName(of: type.typeName))[]" : lastParameter
    }

    /// The type to which a value is cast; throws for elements of a domain, whose own type has no name here.
    private func castName(_ target: Scalar, _ value: PostgresValue) throws -> String {
        guard target.type.typeName != target.type.type.description else { throw wrongType(value, for: target) }
        return Attribute.castName(of: target.type.typeName)
    }

    func wrongType(_ value: PostgresValue, for target: Scalar) -> KindredError {
        KindredError(
            .wrongType,
            "\(target.label) is of the type \(target.type.typeName); \(value.kindName) was given",
            key: target.label
        )
    }
}

extension PostgresValue {
    /// Whether the value has a kind of user-defined types: composites, ranges, extension types.
    fileprivate var hasParts: Bool {
        switch self {
        case .composite, .range, .multirange, .hstore, .vector: true
        default: false
        }
    }
}
