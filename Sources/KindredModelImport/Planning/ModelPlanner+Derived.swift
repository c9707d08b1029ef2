import KindredDDL
import KindredPostgres

extension ModelPlanner {
    mutating func makeDerived(_ attribute: CoreDataModel.Attribute, _ derivation: String, _ node: Int) {
        let subject = "\(nodes[node].entity.name).\(attribute.name)"
        let inherited = line(of: node).dropFirst().contains { place in
            nodes[place].entity.attributes.contains { $0.name == attribute.name }
        }
        if inherited { return report(.omitted, subject, "it is inherited, and what the ancestor says about it holds") }
        guard let (mapping, type) = sqlType(of: attribute, subject) else { return }
        let fill: ColumnPlan.Fill
        switch DerivedExpression.meaning(of: derivation) {
        case .unknown(let reason): return report(.omitted, subject, "it is derived, but \(reason)")
        case .now where mapping.kind == .date:
            report(.changed, subject, "it is the time of the insertion; nothing sets it when the object changes")
            fill = .value("now()")
        case .now: return report(.omitted, subject, "now() is no value of type \(attribute.type)")
        case .attribute(let source, let function):
            guard let column = derivationSource(source, node) else {
                return report(
                    .omitted, subject, "it is derived from \(source), which is no stored attribute of the same table")
            }
            let isText = type == "text" && column.type == "text"
            guard function == nil ? column.type == type : isText else {
                return report(.omitted, subject, "it is derived from \(source), whose type differs")
            }
            let text = PlanText.column(column.name)
            fill = .generated(function.map { "\($0)(" + text + ")" } ?? text)
        case .concatenation(let parts):
            var text = PlanText()
            for (place, part) in parts.enumerated() {
                if place > 0 { text = text + " || " }
                switch part {
                case .text(let literal): text = text + DDL.literal(literal)
                case .attribute(let source):
                    guard let column = derivationSource(source, node), column.type == "text" else {
                        return report(
                            .omitted, subject, "it is derived from \(source), which is no stored text of the same table"
                        )
                    }
                    text = text + .column(column.name)
                }
            }
            guard type == "text" else { return report(.omitted, subject, "texts in a row make a text") }
            fill = .generated(text)
        }
        let name = columnName(attribute.name, node, subject)
        var column = ColumnPlan(
            name: name, origin: .attribute(entity: nodes[node].entity.name, name: attribute.name), type: type)
        column.fill = fill
        column.comment = Self.comment(attribute.userInfo)
        add(column, to: nodes[node].table, for: attribute, node)
        if attribute.minimum != nil || attribute.maximum != nil || attribute.pattern != nil
            || attribute.defaultValue != nil
        {
            report(.omitted, subject, "a derived attribute has no default and no range")
        }
    }

    /// The ordinary column of the same table that a derived attribute names.
    func derivationSource(_ name: String, _ node: Int) -> ColumnPlan? {
        guard let found = column(of: name, node), found.table == nodes[node].table else { return nil }
        return plan.tables[found.table].columns.first { column in
            if column.name != found.name { return false }
            if case .generated = column.fill { return false }
            return true
        }
    }

    /// The column of a property that an entity has or inherits.
    func column(of name: String, _ node: Int) -> (table: Int, name: String)? {
        for place in line(of: node) {
            if let found = columns[Property(node: place, name: name)] { return found }
        }
        return nil
    }
}
