import KindredDDL
import KindredPostgres

extension ModelPlanner {
    mutating func addLimits(
        of attribute: CoreDataModel.Attribute, _ mapping: AttributeMapping, _ table: Int, _ column: String,
        _ subject: String
    ) {
        var conditions: [PlanText] = []
        let limits = [(attribute.minimum, ">="), (attribute.maximum, "<=")]
        for (text, comparison) in limits {
            guard let text else { continue }
            let limit: String?
            switch mapping.range {
            case .length: limit = Int32(text).flatMap { $0 >= 0 ? "\($0)" : nil }
            case .value: limit = mapping.limit(text)
            case .none:
                report(.omitted, subject, "a value of type \(attribute.type) has no range, so \(text) means nothing")
                continue
            }
            guard let limit else {
                report(.omitted, subject, "its limit \"\(text)\" is no value of type \(attribute.type)")
                continue
            }
            let value = mapping.range == .length ? "char_length(" + .column(column) + ")" : PlanText.column(column)
            conditions.append(value + " \(comparison) \(limit)")
        }
        if let first = conditions.first {
            let both = conditions.count > 1 ? first + " AND " + conditions[1] : first
            addCheck(table, "\(column)_range", both)
        }
        guard let pattern = attribute.pattern else { return }
        guard mapping.kind == .string || mapping.kind == .uri else {
            report(.omitted, subject, "only texts match regular expressions")
            return
        }
        do {
            let translated = try PatternTranslation.translate(pattern)
            addCheck(table, "\(column)_pattern", .column(column) + " ~ \(DDL.literal(translated))")
        } catch {
            report(.omitted, subject, "its regular expression \(pattern) is not checked: \(error.reason)")
        }
    }
}
