import KindredPostgres

/// A column as ADD COLUMN writes it.
struct AddedColumn {
    let name: String
    private(set) var isRequired = false
    private(set) var isUnique = false
    private(set) var isPrimaryKey = false
    private(set) var hasCheck = false
    /// The table of its foreign key.
    private(set) var target: WrittenName?
    /// Whether rows that are there get a value.
    private(set) var hasValue = false
    /// The reason why each row gets a value of its own; nil if none does.
    private(set) var rewriting: String?

    private static let serials: Set<ServerText> = [
        "serial", "bigserial", "smallserial", "serial2", "serial4", "serial8",
    ]
    /// The words that end a default, since they begin the next part.
    private static let constraints: Set<ServerText> = [
        "not", "null", "constraint", "check", "unique", "primary", "references", "generated", "collate", "deferrable",
        "initially", "storage", "compression",
    ]
    /// Functions whose result differs from row to row.
    private static let volatile: Set<ServerText> = [
        "random", "random_normal", "gen_random_uuid", "gen_random_bytes", "uuid_generate_v1", "uuid_generate_v1mc",
        "uuid_generate_v4", "uuidv4", "uuidv7", "clock_timestamp", "timeofday", "nextval", "setval",
    ]
    /// Words before a parenthesis that are the same for all rows of a statement: functions, expressions, and types with a length.
    private static let steady: Set<ServerText> = [
        "abs", "age", "array", "array_fill", "array_to_string", "bit", "box", "bpchar", "cast", "ceil", "char",
        "character", "chr",
        "circle", "coalesce", "concat", "concat_ws", "current_database", "current_schema", "current_setting",
        "current_time",
        "current_timestamp", "daterange", "date_part", "date_trunc", "decimal", "decode", "encode", "extract", "float",
        "floor",
        "format", "greatest", "hstore", "in", "int4range", "int8range", "interval", "json_build_array",
        "json_build_object",
        "jsonb_build_array", "jsonb_build_object", "least", "left", "length", "localtime", "localtimestamp", "lower",
        "lpad",
        "make_date", "make_interval", "make_time", "make_timestamp", "make_timestamptz", "md5", "now", "nullif",
        "numeric",
        "numrange", "overlay", "point", "polygon", "position", "repeat", "replace", "reverse", "right", "round", "row",
        "rpad",
        "sha256", "split_part", "statement_timestamp", "string_to_array", "substring", "time", "timestamp",
        "timestamptz",
        "timetz", "timezone", "to_char", "to_date", "to_json", "to_jsonb", "to_number", "to_timestamp", "to_tsvector",
        "transaction_timestamp", "translate", "trim", "trunc", "tsrange", "tstzrange", "upper", "varbit", "varchar",
        "varying",
    ]

    /// Reads the text behind ADD COLUMN; nil if it does not begin with a name.
    init?(_ cursor: StatementCursor) {
        var cursor = cursor
        guard let name = cursor.identifier() else { return nil }
        self.name = name
        readType(&cursor)
        while !cursor.isAtEnd { readPart(&cursor) }
    }

    private mutating func readType(_ cursor: inout StatementCursor) {
        var copy = cursor
        guard let type = copy.name(), Self.serials.contains(type.name) else { return }
        cursor = copy
        hasValue = true
        isRequired = true
        rewriting = "\(type.name) gives each row a number of its own"
    }

    private mutating func readPart(_ cursor: inout StatementCursor) {
        if cursor.take("not", "null") {
            isRequired = true
        } else if cursor.take("default") {
            readDefault(&cursor)
        } else if cursor.take("generated") {
            readGenerated(&cursor)
        } else if cursor.take("constraint") {
            _ = cursor.identifier()
        } else if cursor.take("check") {
            hasCheck = true
            _ = cursor.parenthesized()
        } else if cursor.take("unique") {
            isUnique = true
        } else if cursor.take("primary", "key") {
            isPrimaryKey = true
        } else if cursor.take("references") {
            target = cursor.name()
        } else if cursor.parenthesized() == nil {
            cursor.skip()
        }
    }

    private mutating func readGenerated(_ cursor: inout StatementCursor) {
        _ = cursor.take("always") || cursor.take("by", "default")
        _ = cursor.take("as")
        hasValue = true
        if cursor.take("identity") {
            rewriting = "IDENTITY gives each row a number of its own"
            isRequired = true
        } else if cursor.parenthesized() != nil, cursor.take("stored") {
            rewriting = "the value of a generated column is stored in each row"
        }
    }

    private mutating func readDefault(_ cursor: inout StatementCursor) {
        var (depth, expression): (Int, [SQLToken]) = (0, [])
        while let token = cursor.tokens.first {
            if depth == 0, !expression.isEmpty, token.kind == .word, Self.constraints.contains(token.text) { break }
            if token.isSign("(") || token.isSign("[") { depth += 1 }
            if token.isSign(")") || token.isSign("]") { depth -= 1 }
            expression.append(token)
            cursor.skip()
        }
        if expression.first?.isWord("null") == true { return }
        hasValue = true
        for (place, token) in expression.enumerated().dropLast() where expression[place + 1].isSign("(") {
            guard token.kind == .word || token.kind == .name, !Self.steady.contains(token.text) else { continue }
            // The length of a type, as in '…'::code(3).
            if place > 1, expression[place - 1].isSign(":"), expression[place - 2].isSign(":") { continue }
            guard rewriting == nil else { return }
            rewriting =
                Self.volatile.contains(token.text)
                ? "\(token.text)() gives each row a value of its own"
                : "\(token.text)() gives each row a value of its own, unless it is declared STABLE or IMMUTABLE"
        }
    }
}
