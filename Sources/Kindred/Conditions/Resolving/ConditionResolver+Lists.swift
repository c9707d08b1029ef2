import KindredPostgres

extension ConditionResolver {
    mutating func between(_ value: Operand, _ bounds: Operand) throws -> ResolvedTerm {
        let lower: Operand
        let upper: Operand
        switch bounds {
        case .values(let values) where values.count == 2: (lower, upper) = (.value(values[0]), .value(values[1]))
        case .list(let list) where list.count == 2: (lower, upper) = (try operand(list[0]), try operand(list[1]))
        default: throw KindredError(.invalidCondition, "BETWEEN takes two values, as in BETWEEN {1, 5}")
        }
        if value.isNull || lower.isNull || upper.isNull { return .never }
        let (first, least) = try scalars(value, lower, for: .between)
        let (_, greatest) = try scalars(.scalar(first), upper, for: .between)
        return ResolvedTerm(
            term: .between(
                first.value, from: least.value, first.type.comparison(.greaterOrEqual, with: least.type),
                to: greatest.value, first.type.comparison(.lessOrEqual, with: greatest.type)))
    }

    mutating func isIn(_ element: Operand, _ collection: Operand, ignoresCase: Bool) throws -> ResolvedTerm {
        if ignoresCase { return try isInIgnoringCase(element, collection) }
        switch (element, collection) {
        case (_, .value(nil)): return .never
        case (.row, .objects(let objects)): return try row(element, among: objects)
        case (.row, .values(let values)) where values.isEmpty: return .never
        case (_, .values(let values)): return try value(element, among: values)
        case (_, .list(let list)):
            var alternatives: [ConditionTerm] = []
            for expression in list {
                alternatives.append(try equal(element, isNegated: false, operand(expression)).term)
            }
            return alternatives.isEmpty ? .never : ResolvedTerm(term: .any(alternatives))
        case (_, .scalar(let scalar)) where scalar.type.family == .array:
            return try contains(collection, element, ignoresCase: false)
        case (_, .scalar), (_, .value(.string?)): return try contains(collection, element, ignoresCase: false)
        case (_, .value(.array(let array)?)): return try value(element, among: array.elements)
        default: throw KindredError(.invalidCondition, "IN takes a list, an array, a text or a path to many objects")
        }
    }

    /// `IN[c]`: a text in a text or in a list of texts, ignoring case.
    private mutating func isInIgnoringCase(_ element: Operand, _ collection: Operand) throws -> ResolvedTerm {
        let texts: [Operand]
        switch collection {
        case .value(nil): return .never
        case .value(.string?): return try text(collection, .contains, part: element, ignoresCase: true)
        case .scalar(let scalar) where scalar.type.family != .array:
            return try text(collection, .contains, part: element, ignoresCase: true)
        case .values(let values): texts = values.map(Operand.value)
        case .value(.array(let array)?): texts = array.elements.map(Operand.value)
        case .list(let list): texts = try list.map { try operand($0) }
        default:
            throw KindredError(
                .invalidCondition, "IN[c] takes a text or a list of texts; for an array write ANY array ==[c] element")
        }
        let alternatives = try texts.map { try equalIgnoringCase(element, .equal, with: $0).term }
        return alternatives.isEmpty ? .never : ResolvedTerm(term: .any(alternatives))
    }

    /// One comparison with an array parameter, for any number of values; NULL among them means nil.
    private mutating func value(_ element: Operand, among values: [PostgresValue?]) throws -> ResolvedTerm {
        let hasNull = values.contains(nil)
        let scalar: Scalar
        switch element {
        case .scalar(let column): scalar = column
        case .value(let value?): scalar = try natural(value)
        case .value(nil): return hasNull ? .always : .never
        case .row, .object, .objects:
            throw KindredError(.wrongType, "An object cannot be among values; give objects")
        case .values, .list: throw KindredError(.invalidCondition, "A list cannot be in a list")
        }
        // A JSON value that is not a number equals no number, but it is not NULL; so with truth values.
        var compared = scalar
        if let kind = values.lazy.compactMap(\.self).first?.kindInDocument, let part = scalar.inDocument(as: kind),
            values.allSatisfy({ $0 == nil || $0?.kindInDocument == kind })
        {
            compared = part
        }
        let list = try bind(values.compactMap(\.self), asArrayOf: compared)
        let isIn = ConditionTerm.element(compared.value, try equality(compared), of: list)
        guard hasNull else { return ResolvedTerm(term: isIn, isTwoValued: !compared.mayBeNull) }
        return ResolvedTerm(term: .any([isIn, scalar.isNull]))
    }

    /// Whether an array contains all given elements; false if NULL, which equals nothing, is one of them.
    private mutating func containsAll(
        _ array: Scalar,
        _ values: [PostgresValue?],
        ofType type: PostgresDataType
    ) throws -> ResolvedTerm {
        guard !values.contains(nil) else { return .never }
        _ = try equality(array)
        let element = Scalar(
            value: .absent,
            type: ValueType(elementOf: array.type, type),
            mayBeNull: true,
            label: "an element of \(array.label)"
        )
        let list = try bind(values.compactMap(\.self), asArrayOf: element)
        return ResolvedTerm(
            term: .comparison(array.value, array.type.comparison(.contains), list), isTwoValued: !array.mayBeNull)
    }

    /// Whether a JSON document contains another, by PostgreSQL's `@>`: all its members, in any order.
    private mutating func contains(_ document: Scalar, _ part: Operand) throws -> ResolvedTerm {
        if part.isNull { return .never }
        var other = document
        switch part {
        case .scalar(let scalar) where scalar.type.type == .jsonb: other = scalar
        case .value(let value?):
            do {
                other.value = .parameter(try parameters.value(value, as: .jsonb))
            } catch let error as PostgresError {
                throw KindredError(
                    .wrongType,
                    "\(document.label) is of the type jsonb: \(error.message)",
                    key: document.label,
                    underlying: error
                )
            }
            other.mayBeNull = false
        default:
            throw KindredError(.wrongType, "CONTAINS needs a document on its right", key: document.label)
        }
        return ResolvedTerm(
            term: .comparison(document.value, document.type.comparison(.contains), other.value),
            isTwoValued: !document.mayBeNull && !other.mayBeNull)
    }

    /// `CONTAINS`: a text in a text, elements in an array, or a document in a JSON document.
    mutating func contains(_ whole: Operand, _ part: Operand, ignoresCase: Bool) throws -> ResolvedTerm {
        if case .scalar(let document) = whole, document.type.type == .jsonb {
            try requireCase(ignoresCase)
            return try contains(document, part)
        }
        guard case .scalar(let array) = whole, array.type.family == .array, let type = array.type.elementType else {
            guard case .values(let values) = whole else {
                return try text(whole, .contains, part: part, ignoresCase: ignoresCase)
            }
            try requireCase(ignoresCase)
            return try value(part, among: values)
        }
        try requireCase(ignoresCase)
        if part.isNull { return .never }
        if case .values(let values) = part { return try containsAll(array, values, ofType: type) }
        if case .value(.array(let list)?) = part { return try containsAll(array, list.elements, ofType: type) }
        let element = Scalar(
            value: .absent,
            type: ValueType(elementOf: array.type, type),
            mayBeNull: true,
            label: "an element of \(array.label)"
        )
        let (_, sought) = try scalars(.scalar(element), part, for: .contains)
        return ResolvedTerm(term: .element(sought.value, try equality(sought), of: array.value))
    }

    private func requireCase(_ ignoresCase: Bool) throws {
        guard ignoresCase else { return }
        throw KindredError(
            .invalidCondition, "CONTAINS[c] looks for a text in a text; for an array write ANY array ==[c] element")
    }
}
