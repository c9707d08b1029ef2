import KindredPostgres
import KindredSchema

// Statements whose text was rendered before: only values are bound.
extension SelectQuery {
    /// The statement of a purpose; nil if no statement of its shape was rendered before.
    ///
    /// Throws for values that do not fit, as rendering the statement does.
    func known(_ purpose: RenderedTexts.Shape.Purpose, with values: [PostgresValue] = []) throws -> Statement? {
        try rendered(purpose).flatMap { try statement($0, with: values) }
    }

    /// The text that was rendered for a purpose.
    func rendered(_ purpose: RenderedTexts.Shape.Purpose) -> RenderedTexts.Rendered? {
        texts(for: purpose)?.find(shape(purpose))
    }

    /// A statement of a rendered text; nil if one of the values would make another text.
    func statement(_ rendered: RenderedTexts.Rendered, with values: [PostgresValue] = []) throws -> Statement? {
        var parameters = condition?.parameters ?? Parameters()
        try parameters.bindings.append(contentsOf: rendered.constants)
        for (value, target) in zip(values, rendered.targets) {
            guard try parameters.bind(.value(value), as: target) else { return nil }
        }
        if let limit { _ = try parameters.bind(limit, named: "limit", of: entity) }
        if let offset { _ = try parameters.bind(offset, named: "offset", of: entity) }
        return parameters.statement(rendered.text)
    }

    /// Keeps a text, unless its values differ from the purpose's.
    ///
    /// - Parameters:
    ///   - resolver: the resolver before limit and offset.
    ///   - reads: the rows and columns that a part reads.
    func keep(
        _ text: StatementText, as purpose: RenderedTexts.Shape.Purpose, _ resolver: ConditionResolver,
        reads: Reads? = nil
    ) {
        guard let texts = texts(for: purpose) else { return }
        let values = resolver.bound.suffix(purpose.values)
        let all = resolver.parameters.bindings
        let (first, end) = (condition?.parameters.bindings.count ?? 0, all.count - purpose.values)
        guard first <= end, values.map(\.parameter) == Array(end + 1..<resolver.parameters.next),
            // A row in a cursor may have no form that the server reads.
            !values.contains(where: { $0.target.mayBeRow })
        else { return }
        var constants = Bindings()
        for position in first..<end {
            guard (try? constants.append(all.slots[position], of: all)) != nil else { return }
        }
        texts.keep(
            RenderedTexts.Rendered(
                text, constants: constants, targets: values.map(\.target), reads: reads),
            shape(purpose))
    }

    /// Where texts of a purpose are kept; nil where a text depends on more than its shape.
    private func texts(for purpose: RenderedTexts.Shape.Purpose) -> RenderedTexts? {
        if case .part = purpose {
            guard pairLink?.owner == nil else { return nil }
        } else {
            guard owner == nil, pairLink == nil, memberOrder == nil || !sort.isEmpty else { return nil }
        }
        // The values of a sort key are bound in several places of the text.
        guard keys == nil, let shapes, sort.allSatisfy({ $0.alternatives.isEmpty }) else { return nil }
        guard let shape = condition?.shape else { return shapes.texts }
        return shape.isShared && shape.resolver.isFiltered == isFiltered ? shape.texts : nil
    }

    private func shape(_ purpose: RenderedTexts.Shape.Purpose) -> RenderedTexts.Shape {
        RenderedTexts.Shape(
            purpose: purpose, sort: sort, isFiltered: isFiltered, hasLimit: limit != nil, hasOffset: offset != nil,
            lock: lock.map { $0.0.rawValue + $0.1.rawValue }, leftOut: leftOut)
    }
}
