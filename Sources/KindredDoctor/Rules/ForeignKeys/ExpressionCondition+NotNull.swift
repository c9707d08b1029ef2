import KindredSchema

extension ExpressionCondition {
    /// Whether the condition holds for every row in which none of the columns is NULL, as far as PostgreSQL can prove it.
    ///
    /// It does so by IS NOT NULL, NOT … IS NULL, ROW(…) IS NOT NULL and `true`, and by AND and OR of these.
    ///
    /// - Parameter columns: The columns, each with whether a cast to text leaves its values as they are.
    func follows(from columns: [String: Bool]) -> Bool {
        switch self {
        case .always: true
        case .isNotNull(let operands): Self.areNotNull(operands, columns)
        case .and(let conditions): conditions.allSatisfy { $0.follows(from: columns) }
        case .or(let conditions): conditions.contains { $0.follows(from: columns) }
        case .not(let condition): condition.isRefuted(by: columns)
        case .isNull, .isTrue, .equals, .unknown: false
        }
    }

    /// Whether the condition is false for every such row: NOT goes inwards past AND and OR, as PostgreSQL moves it.
    private func isRefuted(by columns: [String: Bool]) -> Bool {
        switch self {
        // NOT (ROW(a, b) IS NULL) holds where one of them is NULL.
        case .isNull(let operands): operands.count == 1 && Self.areNotNull(operands, columns)
        case .and(let conditions): conditions.contains { $0.isRefuted(by: columns) }
        case .or(let conditions): conditions.allSatisfy { $0.isRefuted(by: columns) }
        case .not(let condition): condition.follows(from: columns)
        case .always, .isNotNull, .isTrue, .equals, .unknown: false
        }
    }

    private static func areNotNull(_ operands: [Operand], _ columns: [String: Bool]) -> Bool {
        operands.allSatisfy { operand in
            guard let isSameAsText = columns[operand.column] else { return false }
            return operand.casts.isEmpty || (isSameAsText && operand.casts == ["text"])
        }
    }
}
