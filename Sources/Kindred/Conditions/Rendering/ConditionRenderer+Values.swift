import KindredPostgres

// Binding values as the type of what they are compared with.
extension ConditionRenderer {
    /// Appends a value as a parameter of the given type, and returns the parameter.
    ///
    /// A number that the type cannot hold exactly keeps its own type: comparing it is still right.
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
                guard case .string(let label) = value else { throw wrongType(value, for: target) }
                try check(label, for: target)
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
                    // As text, which the server is told to read as the type of the other side.
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
        // 5.0 is an integer as well, and so can use an index.
        if type.isInteger, case .double(let double) = value, let exact = Int64(exactly: double) {
            value = .integer(exact)
        }
        do {
            try bindings.append(value, as: type.type)
        } catch {
            try bindings.append(value, as: value.naturalType)
        }
    }

    private func check(_ label: String, for target: Scalar) throws {
        guard let labels = target.type.enumLabels, !labels.contains(label) else { return }
        let shown = labels.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
        throw KindredError(
            .wrongType,
            "\(target.label) is of the enum \(target.type.typeName), which has other labels: \(shown)"
                + (labels.count > 10 ? " and \(labels.count - 10) more" : ""),
            key: target.label
        )
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
            // The first of these types that holds them all exactly.
            if (try? bindings.appendArray(values, of: type.type)) != nil { return lastParameter }
            // A number of the column's type stands for what the column would hold of it, as it does by itself.
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
        // A type that only the server knows: the array goes as text without a type, which it infers from the column.
        var haveParts = false
        let texts = try values.map { value in
            if case .string(let label) = value, [.enumeration, .other, .text].contains(type.family) {
                if type.family == .enumeration { try check(label, for: target) }
                return value
            }
            guard type.family == .other, value.hasParts else { throw wrongType(value, for: target) }
            _ = try castName(target, value)
            haveParts = true
            return .string(value.description)
        }
        let array = PostgresArray(elementType: .text, elements: texts)
        try bindings.append(.string(array.description), as: nil)
        return haveParts ? "\(lastParameter)::\(Attribute.castName(of: type.typeName))[]" : lastParameter
    }

    /// The type that the server is told to read a value as; an error for elements of a domain, whose own type has no name
    /// here.
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
    /// Whether the value is of a kind that types of the database's own have: composites, ranges, extensions' types.
    fileprivate var hasParts: Bool {
        switch self {
        case .composite, .range, .multirange, .hstore, .vector: true
        default: false
        }
    }
}
