// Expressions in the place of columns that may be NULL.
extension IndexCondition {
    /// The columns of expressions of an index that all are a column with a constant in the place of NULL, as in
    /// `COALESCE(parent, 0)`; nil if one of them is something else.
    static func coalescedColumns(_ expressions: String) -> [String]? {
        var columns: [String] = []
        var rest = tokens(of: expressions)[...]
        while rest.starts(with: [.word("COALESCE"), .symbol("(")]) {
            rest.removeFirst(2)
            switch rest.popFirst() {
            case .word(let name), .quoted(let name): columns.append(name)
            default: return nil
            }
            guard rest.popFirst() == .symbol(","), takeConstant(&rest), rest.popFirst() == .symbol(")") else {
                return nil
            }
            guard rest.popFirst() == .symbol(",") else { break }
        }
        return rest.isEmpty && !columns.isEmpty ? columns : nil
    }

    /// Takes a number, or a text with the type that it is cast to.
    private static func takeConstant(_ rest: inout ArraySlice<Token>) -> Bool {
        switch rest.popFirst() {
        case .word(let number) where number.utf8.allSatisfy({ (0x30...0x39).contains($0) }): break
        case .symbol(let text) where text.utf8.first == UInt8(ascii: "'"): break
        default: return false
        }
        guard rest.first == .symbol("::") else { return true }
        rest.removeFirst()
        rest = rest.drop {
            if case .word = $0 { true } else { false }
        }
        return true
    }
}
