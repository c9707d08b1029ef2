extension PostgresValue: Hashable {
    /// Whether the values are the same.
    ///
    /// Strings are compared by their bytes, as the server does: two spellings of "é" are two values.
    public static func == (left: PostgresValue, right: PostgresValue) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.float(let a), .float(let b)): a == b || a.isNaN && b.isNaN
        case (.double(let a), .double(let b)): a == b || a.isNaN && b.isNaN
        case (.numeric(let a), .numeric(let b)): a == b
        case (.bytes(let a), .bytes(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.time(let a), .time(let b)): a == b
        case (.timeTZ(let a), .timeTZ(let b)): a == b
        case (.timestamp(let a), .timestamp(let b)): a == b
        case (.timestampTZ(let a), .timestampTZ(let b)): a == b
        case (.interval(let a), .interval(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.json(let a), .json(let b)): a == b
        case (.inet(let a), .inet(let b)): a == b
        case (.macAddress(let a), .macAddress(let b)): a == b
        case (.bits(let a), .bits(let b)): a == b
        case (.money(let a), .money(let b)): a == b
        case (.point(let a), .point(let b)): a == b
        case (.line(let a), .line(let b)): a == b
        case (.lineSegment(let a), .lineSegment(let b)): a == b
        case (.box(let a), .box(let b)): a == b
        case (.path(let a), .path(let b)): a == b
        case (.polygon(let a), .polygon(let b)): a == b
        case (.circle(let a), .circle(let b)): a == b
        case (.tsVector(let a), .tsVector(let b)): a == b
        case (.tsQuery(let a), .tsQuery(let b)): a == b
        case (.hstore(let a), .hstore(let b)): a == b
        case (.vector(let a), .vector(let b)): a == b
        case (.range(let a), .range(let b)): a == b
        case (.multirange(let a), .multirange(let b)): a == b
        case (.composite(let a), .composite(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.other(let a), .other(let b)): a == b
        default: false
        }
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text): hasher.combine(text)
        case .integer(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.isNaN ? Float.zero : value)
        case .double(let value): hasher.combine(value.isNaN ? Double.zero : value)
        case .numeric(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .time(let value): hasher.combine(value)
        case .timeTZ(let value): hasher.combine(value)
        case .timestamp(let value), .timestampTZ(let value): hasher.combine(value)
        case .interval(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .json(let value): hasher.combine(value)
        case .inet(let value): hasher.combine(value)
        case .macAddress(let value): hasher.combine(value)
        case .bits(let value): hasher.combine(value)
        case .money(let value): hasher.combine(value)
        case .point(let value): hasher.combine(value)
        case .line(let value): hasher.combine(value)
        case .lineSegment(let value): hasher.combine(value)
        case .box(let value): hasher.combine(value)
        case .path(let value): hasher.combine(value)
        case .polygon(let value): hasher.combine(value)
        case .circle(let value): hasher.combine(value)
        case .tsVector(let value): hasher.combine(value)
        case .tsQuery(let value): hasher.combine(value)
        case .hstore(let value): hasher.combine(value)
        case .vector(let value): hasher.combine(value)
        case .range(let value): hasher.combine(value)
        case .multirange(let value): hasher.combine(value)
        case .composite(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .other(let value): hasher.combine(value)
        }
    }
}
