import KindredPostgres
import KindredSchema
import Synchronization

/// The limits of an attribute's values besides their type: length, precision, labels.
struct AttributeLimits {
    let column: Int
    private let attribute: Attribute

    /// nil for an attribute that takes every value of its type.
    init?(_ attribute: Attribute, column: Int) {
        let isLimited =
            attribute.enumLabels != nil || attribute.numericPrecision != nil
            || attribute.maximumLength != nil
        guard isLimited else { return nil }
        self.column = column
        self.attribute = attribute
    }

    /// The problem of a value, if any.
    ///
    /// - Parameter added: the labels of the enum, where they were read again after the model was; else empty.
    func problem(_ value: PostgresValue, added: [String] = []) -> (code: KindredError.Code, reason: String)? {
        switch value {
        case .array(let array):
            return array.elements.lazy.compactMap { $0.flatMap { problem($0, added: added) } }.first
        case .string(let text):
            if let labels = attribute.enumLabels.map({ added.isEmpty ? $0 : added }) {
                if labels.contains(where: { $0 == text }) { return nil }
                return (.unknownLabel, "it takes one of \(labels.map { "\"\($0)\"" }.joined(separator: ", "))")
            }
            // The server truncates trailing spaces and refuses everything else.
            guard let maximum = attribute.maximumLength, isText, text.unicodeScalars.count > maximum,
                text.unicodeScalars.dropFirst(maximum).contains(where: { $0 != " " })
            else { return nil }
            return (.valueTooLarge, "it takes at most \(maximum) characters")
        case .numeric(let numeric):
            guard let precision = attribute.numericPrecision else { return nil }
            let scale = attribute.numericScale ?? 0
            guard numeric.hasScale(scale) else {
                return (
                    .valueTooLarge,
                    "it takes \(max(scale, 0)) digits after the point; round the value, as by rounded(toScale: \(scale))"
                )
            }
            // With a scale greater than the precision, zeros must follow the point; the server checks that.
            guard scale <= precision else { return nil }
            guard Self.wholeDigits(numeric.description, roundedTo: scale) > precision - scale else { return nil }
            return (.valueTooLarge, "it takes \(precision) digits, \(scale) of them after the point")
        case .integer(let integer) where attribute.numericPrecision != nil:
            return problem(.numeric(PostgresNumeric(integer)))
        case .double(let double) where attribute.numericPrecision != nil:
            return problem(.numeric(PostgresNumeric(double)))
        case .float(let float) where attribute.numericPrecision != nil:
            return problem(.numeric(PostgresNumeric(float)))
        default:
            return nil
        }
    }

    private var isText: Bool {
        [.varchar, .bpchar].contains(attribute.elementType ?? attribute.baseType)
    }

    /// The number of digits before the point of a decimal number, rounded to a number of digits after it.
    ///
    /// NaN has none; infinity is larger than everything.
    static func wholeDigits(_ text: String, roundedTo scale: Int) -> Int {
        let parts = text.drop { $0 == "-" || $0 == "+" }.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, whole.allSatisfy(\.isNumber) else {
            return text.hasSuffix("Infinity") ? .max : 0
        }
        let digits = Array((whole + (parts.count > 1 ? parts[1] : "")).utf8)
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        // Digits before the point without leading zeros; negative for zeros right after it.
        let count = whole.utf8.count - leading
        let kept = count + scale
        let significant = digits.dropFirst(leading)
        guard kept >= 0, kept < significant.count else { return max(count, 0) }
        let isUp = significant[significant.startIndex + kept] >= UInt8(ascii: "5")
        if kept == 0 && !isUp { return 0 }
        let isCarried = isUp && significant.prefix(kept).allSatisfy { $0 == UInt8(ascii: "9") }
        return max(isCarried ? count + 1 : count, 0)
    }
}

extension PostgresNumeric {
    /// Whether rounding to a number of digits after the point changes nothing.
    fileprivate func hasScale(_ scale: Int) -> Bool {
        scale < 0 || neededScale > scale ? rounded(toScale: scale) == self : true
    }
}

extension EntityRuntime {
    /// The reason why a column of its type cannot have a value, if there is one.
    func misfit(_ value: PostgresValue, at column: Int) -> (code: KindredError.Code, reason: String)? {
        guard let limits = limits.first(where: { $0.column == column }) else { return nil }
        return limits.problem(value, added: readLabels.withLock { $0[column] ?? [] })
    }

    /// A value with as many digits after the point as the column has, where it is a number that has more.
    func rounded(_ value: PostgresValue, at column: Int) -> PostgresValue {
        let attribute = entity.attributes[column]
        guard attribute.numericPrecision != nil else { return value }
        let scale = attribute.numericScale ?? 0
        switch value {
        case .numeric(let numeric): return numeric.hasScale(scale) ? value : .numeric(numeric.rounded(toScale: scale))
        case .array(let array):
            let elements = array.elements.map { $0.map { rounded($0, at: column) } }
            let changed = try? PostgresArray(
                elementType: array.elementType, dimensions: array.dimensions, elements: elements)
            return changed.map(PostgresValue.array) ?? value
        default: return value
        }
    }

    /// Whether the server may store other values than a new row gives in some columns: by a BEFORE trigger, a rule, a view's
    /// query, or a type with a modifier, which rounds, pads or cuts.
    func mayStoreOthers(than row: Row, in columns: [Int]) -> Bool {
        if entity.hasInsertTrigger || !entity.obstacles.isDisjoint(with: [.rules, .insertTriggers]) { return true }
        if entity.kind != .table && entity.kind != .partitionedTable { return true }
        return columns.contains { column in
            let attribute = entity.attributes[column]
            switch attribute.baseType {
            case .int2, .int4, .int8, .uuid, .text, .numeric, .bit, .varbit: return false
            case .varchar, .bpchar:
                guard let maximum = attribute.maximumLength, let size = row.withBytes(at: column, \.count) else {
                    return false
                }
                return attribute.baseType == .bpchar ? size != maximum : size > maximum
            case .timestamp, .timestamptz, .time, .timetz, .interval:
                // A domain does not show the modifier of its type.
                return attribute.domain != nil || attribute.sqlType.utf8.contains(UInt8(ascii: "("))
            default: return attribute.sqlType.utf8.contains(UInt8(ascii: "("))
            }
        }
    }

    /// Whether the database may fill columns of a new row that have no value.
    var mayFillNewRows: Bool { entity.kind == .view || entity.hasInsertTrigger }
}
