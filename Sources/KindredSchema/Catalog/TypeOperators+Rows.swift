import KindredPostgres

extension TypeOperators {
    /// The operators of the default classes, and operators of other names in the type's own schema; nil for a type
    /// without any.
    ///
    /// - Parameter rows: the operators with the type on the left.
    convenience init?(_ type: Catalog.TypeRow, _ rows: [Catalog.Operator]) {
        func text(_ row: Catalog.Operator?) -> String? {
            guard let row else { return nil }
            let name = QualifiedName(catalog: row.schema, row.name)
            return try? row.oid == 0 ? name.quoted : name.quotedOperator
        }
        let own = rows.filter { $0.schema == type.schema }
        func named(_ symbol: Symbol) -> Catalog.Operator? {
            own.first { $0.oid != 0 && $0.name == symbol.rawValue && $0.right == type.oid }
        }
        let ordered = Dictionary(rows.map { ($0.strategy, $0) }) { first, _ in first }
        let equality = ordered[3] ?? ordered[6] ?? named(.equal)
        func row(_ symbol: Symbol) -> Catalog.Operator? {
            switch symbol {
            case .equal: equality
            case .notEqual: rows.first { $0.oid != 0 && $0.oid == equality?.negator } ?? named(.notEqual)
            case .less: ordered[1] ?? named(.less)
            case .lessOrEqual: ordered[2] ?? named(.lessOrEqual)
            case .greaterOrEqual: ordered[4] ?? named(.greaterOrEqual)
            case .greater: ordered[5] ?? named(.greater)
            case .like, .likeIgnoringCase, .matches, .matchesIgnoringCase: named(symbol)
            }
        }
        var symbols: [Symbol: String] = [:]
        for symbol in Symbol.allCases { symbols[symbol] = text(row(symbol)) }
        var aggregates: [Aggregate: String] = [:]
        for aggregate in Aggregate.allCases {
            aggregates[aggregate] = text(own.first { $0.oid == 0 && $0.name == aggregate.rawValue })
        }
        if symbols.isEmpty && aggregates.isEmpty { return nil }
        self.init(
            schema: QualifiedName(catalog: type.schema, type.name).schema, symbols: symbols, aggregates: aggregates)
    }
}
