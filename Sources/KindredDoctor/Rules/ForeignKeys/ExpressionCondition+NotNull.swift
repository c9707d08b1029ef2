import KindredPostgres
import KindredSchema

extension ExpressionCondition {
    /// Whether the condition holds for every row in which none of the columns is NULL, as far as PostgreSQL can prove it.
    ///
    /// It does so by tests for NULL of columns and rows and by `true`, and by AND, OR and NOT of such tests.
    ///
    /// - Parameters:
    ///   - columns: The columns, each with whether a cast to text leaves its values as they are.
    ///   - absent: Columns that are NULL in it.
    func follows(from columns: [ServerText: Bool], absent: Set<ServerText> = []) -> Bool {
        switch self {
        case .always: true
        case .isNotNull(let operands): Self.areNotNull(operands, columns)
        case .isNull(let operands): operands.allSatisfy { absent.contains($0.column) }
        case .and(let conditions): conditions.allSatisfy { $0.follows(from: columns, absent: absent) }
        case .or(let conditions): conditions.contains { $0.follows(from: columns, absent: absent) }
        case .not(let condition): condition.isRefuted(by: columns, absent: absent)
        case .isTrue, .equals, .unknown: false
        }
    }

    /// Whether the condition is false for every such row: NOT goes inwards past AND and OR, as PostgreSQL moves it.
    private func isRefuted(by columns: [ServerText: Bool], absent: Set<ServerText>) -> Bool {
        switch self {
        // NOT (ROW(a, b) IS NULL) holds where one of them is NULL.
        case .isNull(let operands): operands.count == 1 && Self.areNotNull(operands, columns)
        case .isNotNull(let operands): operands.count == 1 && absent.contains(operands[0].column)
        case .and(let conditions): conditions.contains { $0.isRefuted(by: columns, absent: absent) }
        case .or(let conditions): conditions.allSatisfy { $0.isRefuted(by: columns, absent: absent) }
        case .not(let condition): condition.follows(from: columns, absent: absent)
        case .always, .isTrue, .equals, .unknown: false
        }
    }

    private static func areNotNull(_ operands: [Operand], _ columns: [ServerText: Bool]) -> Bool {
        operands.allSatisfy { operand in
            guard let isSameAsText = columns[operand.column] else { return false }
            return operand.casts.isEmpty || (isSameAsText && operand.casts == ["text"])
        }
    }
}
