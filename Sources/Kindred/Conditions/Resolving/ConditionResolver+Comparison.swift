import KindredPostgres

extension ConditionResolver {
    mutating func comparison(_ comparison: ConditionComparison) throws -> ResolvedTerm {
        if let members = try existence(comparison) { return try condition(members) }
        if let word = comparison.leftWord { try requireNoKey(word) }
        let left: Operand
        if case .path(let path) = comparison.left {
            let target = try target(of: path)
            if let quantifier = comparison.quantifier {
                return try quantified(quantifier, comparison, over: target)
            }
            // `emailSet CONTAINS %@`
            if comparison.operation == .contains, case .members = target {
                return try quantified(.anyMember, comparison, over: target, as: .equal)
            }
            left = try operand(target)
        } else {
            left = try operand(comparison.left)
        }
        // `%@ IN emailSet`
        if comparison.operation == .isIn, case .path(let path) = comparison.right {
            let target = try target(of: path)
            if case .members = target {
                var turned = comparison
                (turned.left, turned.right) = (comparison.right, comparison.left)
                return try quantified(.anyMember, turned, over: target, as: .equal)
            }
            return try isIn(left, operand(target), ignoresCase: comparison.ignoresCase)
        }
        if comparison.operation == .search {
            return try text(
                left, .search, part: try operand(comparison.right), ignoresCase: false,
                configuration: comparison.configuration)
        }
        return try compare(
            left, comparison.operation, with: try operand(comparison.right), ignoresCase: comparison.ignoresCase)
    }

    /// Throws for a comparison that begins with a word for a value, such as NO, if the entity has a key of this name.
    private func requireNoKey(_ word: String) throws {
        let entity = places[scopes.own].entity
        guard entity.attribute(named: word) != nil || entity.relationship(named: word) != nil else { return }
        throw KindredError(
            .invalidCondition,
            "\"\(word)\" is a word of the format, and a key of \(entity.name): write \"#\(word)\" for the key",
            entity: entity.name.description,
            key: word
        )
    }

    /// `members.@count > 0` and similar comparisons become EXISTS, which the server evaluates faster than a count.
    private func existence(_ comparison: ConditionComparison) throws -> ConditionNode? {
        guard case .value(.integer(0)) = comparison.right else { return nil }
        let condition: MemberCondition
        switch comparison.left {
        case .count(let members): condition = MemberCondition(any: members)
        case .ofMembers(let given):
            guard case .count = given.content else { return nil }
            condition = given.members
        default: return nil
        }
        let members = condition.members
        // A missing object has a NULL count, not zero: a longer path needs the count.
        guard members.keys.count == 1,
            places[try place(of: members)].entity.attribute(named: members.keys[0]) == nil
        else { return nil }
        switch comparison.operation {
        case .greater, .notEqual: return .members(.anyMember, condition)
        case .equal, .lessOrEqual: return .members(.noMember, condition)
        default: return nil
        }
    }

    /// Compares two operands whose paths have been followed.
    mutating func compare(
        _ left: Operand,
        _ operation: ConditionComparison.Operator,
        with right: Operand,
        ignoresCase: Bool
    ) throws -> ResolvedTerm {
        switch operation {
        case .equal, .notEqual:
            if ignoresCase { return try equalIgnoringCase(left, operation, with: right) }
            return try equal(left, isNegated: operation == .notEqual, right)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            if left.isNull || right.isNull { return .never }
            let (left, right) = try scalars(left, right, for: operation)
            let comparison = left.type.comparison(Self.order(operation), with: right.type)
            return ResolvedTerm(term: .comparison(left.value, comparison, right.value))
        case .between: return try between(left, right)
        case .isIn: return try isIn(left, right, ignoresCase: ignoresCase)
        case .contains: return try contains(left, right, ignoresCase: ignoresCase)
        case .like, .matches, .beginsWith, .endsWith, .search:
            return try text(left, operation, part: right, ignoresCase: ignoresCase)
        }
    }

    /// A comparison of two values by their order.
    private static func order(_ operation: ConditionComparison.Operator) -> ConditionTerm.Comparison.Symbol {
        switch operation {
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        default: .greaterOrEqual
        }
    }

    /// `==` and `!=`: nil equals nil and nothing else.
    mutating func equal(_ left: Operand, isNegated: Bool, _ right: Operand) throws -> ResolvedTerm {
        switch (left, right) {
        case (.value(nil), .value(nil)): return isNegated ? .never : .always
        case (.value(nil), .scalar(let scalar)), (.scalar(let scalar), .value(nil)):
            return ResolvedTerm(term: isNegated ? scalar.isNotNull : scalar.isNull, isTwoValued: true)
        case (.row, _), (_, .row), (.object, _), (_, .object), (.objects, _), (_, .objects):
            let same = try sameRow(left, right)
            return isNegated ? same.negation : same
        default: break
        }
        let (left, right) = try scalars(left, right, for: isNegated ? .notEqual : .equal)
        guard try equality(left).symbol == .equal else { return same(left, isNegated: isNegated, right) }
        let comparison = left.type.comparison(.equal, with: right.type)
        if !comparison.isBuiltIn { return equal(left, by: comparison, isNegated: isNegated, right) }
        func term(_ symbol: ConditionTerm.Comparison.Symbol) -> ConditionTerm {
            .comparison(left.value, left.type.comparison(symbol, with: right.type), right.value)
        }
        switch (isNegated, left.mayBeNull && right.mayBeNull, left.mayBeNull || right.mayBeNull) {
        case (false, true, _):
            return ResolvedTerm(term: term(.isNotDistinct), isTwoValued: true)
        case (true, _, true):
            return ResolvedTerm(term: term(.isDistinct), isTwoValued: true)
        case (_, _, let isNullable):
            return ResolvedTerm(term: term(isNegated ? .notEqual : .equal), isTwoValued: !isNullable)
        }
    }

    /// `==` and `!=` by an operator outside of `pg_catalog`, which IS DISTINCT FROM does not find.
    private func equal(
        _ left: Scalar, by comparison: ConditionTerm.Comparison, isNegated: Bool, _ right: Scalar
    ) -> ResolvedTerm {
        let isNullable = left.mayBeNull || right.mayBeNull
        let equal = ResolvedTerm(
            term: left.mayBeNull && right.mayBeNull
                ? .sameOrMissing(left.value, comparison, right.value)
                : .comparison(left.value, comparison, right.value),
            isTwoValued: left.mayBeNull && right.mayBeNull || !isNullable)
        return isNegated ? equal.negation : equal
    }

    /// The equality operator of a type; throws if there is none.
    func equality(_ scalar: Scalar) throws -> ConditionTerm.Comparison {
        if let equality = scalar.type.equality { return equality }
        throw KindredError(
            .wrongType,
            "\(scalar.label) is of the type \(scalar.type.typeName), which can only be compared with NULL",
            key: scalar.label
        )
    }

    /// `==` and `!=` of points, boxes, polygons and circles.
    private func same(_ left: Scalar, isNegated: Bool, _ right: Scalar) -> ResolvedTerm {
        let comparison = left.type.comparison(.same)
        let same = ConditionTerm.comparison(left.value, comparison, right.value)
        guard left.mayBeNull || right.mayBeNull else {
            return ResolvedTerm(term: isNegated ? .not(same) : same, isTwoValued: true)
        }
        // Without a function the comparison can use an index.
        if !isNegated, !left.mayBeNull || !right.mayBeNull { return ResolvedTerm(term: same) }
        let either = ConditionTerm.sameOrMissing(left.value, comparison, right.value)
        return ResolvedTerm(term: isNegated ? .not(either) : either, isTwoValued: true)
    }

    /// Both sides as values of the statement, a constant bound as the type of the other side.
    mutating func scalars(
        _ left: Operand,
        _ right: Operand,
        for operation: ConditionComparison.Operator
    ) throws -> (Scalar, Scalar) {
        let (left, right) = inDocument(left, right)
        switch (left, right) {
        case (.scalar(let left), .scalar(let right)):
            guard left.type.isComparable(with: right.type) else {
                throw KindredError(
                    .wrongType,
                    "\(left.label) is of the type \(left.type.typeName) and cannot be compared with \(right.label), "
                        + "which is of the type \(right.type.typeName)",
                    key: left.label
                )
            }
            return (left, right)
        case (.scalar(let left), _): return (left, try scalar(right, as: left, operation))
        case (_, .scalar(let right)): return (try scalar(left, as: right, operation), right)
        case (.value(let value?), _):
            let left = try natural(value)
            return (left, try scalar(right, as: left, operation))
        default:
            throw KindredError(
                .invalidCondition,
                "\(operation.rawValue) compares single values, and one operand is not a single value")
        }
    }

    /// An operand other than a path, as the type of the other operand.
    mutating func scalar(
        _ operand: Operand,
        as other: Scalar,
        _ operation: ConditionComparison.Operator
    ) throws -> Scalar {
        var bound = other
        bound.mayBeNull = false
        switch operand {
        case .scalar(let scalar): return scalar
        case .value(let value):
            bound.value = try bind(value, as: other)
            bound.mayBeNull = value == nil
        case .values(let values):
            if other.type.type == .bytea, let bytes = [UInt8](values: values) {
                bound.value = try bind(.bytes(bytes), as: other)
                break
            }
            guard other.type.family == .array, let element = other.type.elementType else {
                throw KindredError(
                    .wrongType,
                    "\(other.label) is of the type \(other.type.typeName) and cannot be compared with a list; "
                        + "write IN for one of several values",
                    key: other.label
                )
            }
            bound.value = try bind(.array(PostgresArray(elementType: element, elements: values)), as: other)
        case .row, .object, .objects:
            throw KindredError(
                .wrongType,
                "\(other.label) is of the type \(other.type.typeName) and cannot be compared with an object",
                key: other.label
            )
        case .list:
            throw KindredError(
                .invalidCondition, "\(operation.rawValue) takes no list; write IN for one of several values")
        }
        return bound
    }

    /// A value in a JSON document is compared with numbers as a number, with truth values as one, and with other values as text.
    private func inDocument(_ left: Operand, _ right: Operand) -> (Operand, Operand) {
        func kind(_ operand: Operand) -> JSONKind? {
            switch operand {
            case .scalar(let scalar) where scalar.type.family == .number: .number
            case .scalar(let scalar) where scalar.type.family == .boolean: .boolean
            case .value(let value?): value.kindInDocument
            default: nil
            }
        }
        if case .scalar(let document) = left, let part = kind(right).flatMap(document.inDocument) {
            return (.scalar(part), right)
        }
        if case .scalar(let document) = right, let part = kind(left).flatMap(document.inDocument) {
            return (left, .scalar(part))
        }
        return (left, right)
    }

    /// A value whose type nothing else determines.
    mutating func natural(_ value: PostgresValue) throws -> Scalar {
        var scalar = Scalar(
            value: .absent, type: ValueType(value.naturalType), mayBeNull: false, label: "the value")
        scalar.value = try bind(value, as: scalar)
        return scalar
    }
}
