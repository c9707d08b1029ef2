import KindredPostgres

// Binds values as the type of the other operand.
extension ConditionResolver {
    /// Appends a value as a parameter of the given type, and returns the parameter.
    mutating func bind(_ value: PostgresValue?, as target: Scalar) throws -> ValueTerm {
        let term = try parameters.bind(value, as: target)
        note(term, as: .value(target))
        return term
    }

    /// Appends values as one array parameter, and returns the parameter.
    mutating func bind(_ values: [PostgresValue], asArrayOf target: Scalar) throws -> ValueTerm {
        let term = try parameters.bind(values, asArrayOf: target)
        note(term, as: .list(target))
        return term
    }

    /// Appends a pattern as a text, and returns the parameter.
    mutating func bind(_ text: String, asPatternOf operation: ConditionComparison.Operator) throws -> Parameter {
        let parameter = try parameters.bind(text, asPatternOf: operation)
        note(.parameter(parameter), as: .pattern(operation))
        return parameter
    }

    private mutating func note(_ term: ValueTerm, as target: BoundTarget) {
        guard case .parameter(let parameter) = term else { return }
        bound.append(BoundValue(parameter: parameter.number, target: target))
    }
}

/// The other side of a comparison with a value, which decides the type of the bound value.
indirect enum BoundTarget: Sendable {
    case value(Scalar)
    /// The elements of an array of values.
    case list(Scalar)
    case pattern(ConditionComparison.Operator)

    /// Whether values may be rows of a composite type.
    var mayBeRow: Bool { if case .value(let target) = self { target.type.mayBeRow } else { false } }
}

extension Parameters {
    /// Appends a condition's value as the shape's value was bound; false if it would not be a plain parameter.
    mutating func bind(_ value: ConditionArgument, as target: BoundTarget) throws -> Bool {
        let number = next
        let term: ValueTerm
        switch (value, target) {
        case (.value(let value), .value(let target)): term = try bind(value, as: target)
        case (.list(let values), .list(let target)): term = try bind(values.compactMap(\.self), asArrayOf: target)
        case (.value(.string(let text)), .pattern(let operation)):
            term = .parameter(try bind(text, asPatternOf: operation))
        default: return false
        }
        guard case .parameter(let parameter) = term else { return false }
        return parameter.number == number && !parameter.isElement
    }

    /// Appends a pattern as a text, and returns the parameter.
    mutating func bind(_ text: String, asPatternOf operation: ConditionComparison.Operator) throws -> Parameter {
        try value(.string(TextPattern(text, operation).text), as: .text)
    }

    /// Appends a value as a parameter of the given type, and returns the parameter.
    ///
    /// A number that the type cannot represent exactly keeps its own type, so that the comparison stays correct.
    mutating func bind(_ value: PostgresValue?, as target: Scalar) throws -> ValueTerm {
        let type = target.type
        guard let value else {
            return .parameter(try self.value(nil, as: type.type.isKnown ? type.type : nil))
        }
        do {
            switch type.family {
            case .number:
                guard value.isNumber else { throw target.wrongType(value) }
                return .parameter(try number(value, as: type))
            case .enumeration:
                guard case .string = value else { throw target.wrongType(value) }
                // Only the server knows all labels, since labels may have been added.
                return try inferred(value, as: type.comparedName)
            case .array: return try array(value, as: target)
            case .document:
                throw KindredError(
                    .wrongType,
                    "\(target.label) is of the type \(type.typeName), which can only be compared with NULL",
                    key: target.label
                )
            case .text, .boolean, .moment, .other:
                if type.type.isKnown { return .parameter(try self.value(value, as: type.type)) }
                if case .string = value { return try inferred(value, as: type.comparedName) }
                if case .other(let raw) = value, raw.dataType == type.type {
                    return .parameter(try self.value(value, as: type.type))
                }
                guard value.hasParts else { throw target.wrongType(value) }
                // Sent as text, and cast to the other operand's type.
                let parameter = try self.value(.string(value.description), as: nil)
                return .cast(.parameter(parameter), to: try target.castName(value))
            }
        } catch let error as PostgresError {
            throw KindredError(
                .wrongType,
                "\(target.label) is of the type \(type.typeName): \(error.message)",
                key: target.label,
                underlying: error
            )
        }
    }

    private mutating func number(_ value: PostgresValue, as type: ValueType) throws -> Parameter {
        var value = value
        // 5.0 is bound as an integer, so that an index can be used.
        if type.isInteger, case .double(let double) = value, let exact = Int64(exactly: double) {
            value = .integer(exact)
        }
        do {
            return try self.value(value, as: type.type)
        } catch {
            return try self.value(value, as: value.naturalType)
        }
    }

    private mutating func array(_ value: PostgresValue, as target: Scalar) throws -> ValueTerm {
        guard let element = target.type.elementType else { throw target.wrongType(value) }
        let name = target.type.comparedName
        switch value {
        case .array where element.arrayType != nil: return .parameter(try self.value(value, as: target.type.type))
        case .array(let array): return try inferred(.string(array.description), as: name)
        case .string where element.arrayType == nil: return try inferred(value, as: name)
        default: throw target.wrongType(value)
        }
    }

    /// Appends a text as a parameter whose type the server infers; as an element of an array it is cast to the type.
    private mutating func inferred(_ value: PostgresValue, as typeName: String) throws -> ValueTerm {
        let parameter = ValueTerm.parameter(try self.value(value, as: nil))
        return areOfMany ? .cast(parameter, to: Attribute.castName(of: typeName)) : parameter
    }

    /// Appends values as one array parameter, and returns the parameter.
    mutating func bind(_ values: [PostgresValue], asArrayOf target: Scalar) throws -> ValueTerm {
        let type = target.type
        if type.family == .number {
            for value in values where !value.isNumber { throw target.wrongType(value) }
            // The first of these types that represents all of them exactly.
            if let parameter = try? self.array(values, of: type.type) { return .parameter(parameter) }
            // A number of the column's type is rounded to the column's precision, as a single value is.
            let held =
                type.type == .float4
                ? values.map { value in (try? Codec.float(value)).map { .double(Double($0)) } ?? value } : values
            if let parameter = try? self.array(held, of: type.isFloat ? .float8 : .numeric) {
                return .parameter(parameter)
            }
        }
        if type.type.arrayType != nil, type.family != .enumeration, type.family != .document {
            do {
                return .parameter(try self.array(values, of: type.type))
            } catch let error as PostgresError {
                throw KindredError(
                    .wrongType,
                    "\(target.label) is of the type \(type.typeName): \(error.message)",
                    key: target.label,
                    underlying: error
                )
            }
        }
        // A type without a codec: the array is sent as untyped text, and the server infers its type from the column.
        var haveParts = false
        let texts = try values.map { value in
            if case .string = value, [.enumeration, .other, .text].contains(type.family) { return value }
            guard type.family == .other, value.hasParts else { throw target.wrongType(value) }
            _ = try target.castName(value)
            haveParts = true
            return .string(value.description)
        }
        let array = PostgresArray(elementType: .text, elements: texts)
        guard haveParts else { return try inferred(.string(array.description), as: "\(type.comparedName)[]") }
        let parameter = try self.value(.string(array.description), as: nil)
        return .cast(.parameter(parameter), to: "\(Attribute.castName(of: type.typeName))[]")
    }
}

extension Scalar {
    /// The type to which a value is cast; throws for elements of a domain, whose own type has no name here.
    fileprivate func castName(_ value: PostgresValue) throws -> String {
        guard type.typeName != type.type.description else { throw wrongType(value) }
        return Attribute.castName(of: type.typeName)
    }

    fileprivate func wrongType(_ value: PostgresValue) -> KindredError {
        KindredError(
            .wrongType,
            "\(label) is of the type \(type.typeName); \(value.kindName) was given",
            key: label
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
