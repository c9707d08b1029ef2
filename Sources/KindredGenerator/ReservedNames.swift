import KindredPostgres

/// Names that generated declarations cannot have, or only in backticks.
enum ReservedNames {
    /// Keywords that need backticks.
    static let keywords: Set<String> = [
        "as", "associatedtype", "await", "borrowing", "break", "case", "catch", "class", "consuming", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
        "private", "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Members of `DatabaseObject`, present and possible future ones, and names with a meaning in the language.
    static let members: Set<String> = [
        // The language.
        "init", "objectType", "self", "Self", "Type", "Protocol", "some", "none", "hashValue", "hash",
        // The object.
        "apply", "awakeFromFetch", "awakeFromInsert", "cell", "changedValues", "context", "databaseObject",
        "debugDescription",
        "delete", "description", "dictionary", "encode", "entity", "expect", "entityName", "attributeValue",
        "hasChanges", "hasStagedChanges", "isDeleted",
        "isDeletionStaged", "isFault", "isInserted", "isSaved", "join", "keep", "key", "keys", "layout", "lazyProperty",
        "lock",
        "mapping", "missing", "object",
        "objectID", "prepareForDeletion", "propertyContent", "readArray", "readElements", "readProperty",
        "refresh",
        "relationship", "requireRelationship", "rollback", "row", "rowVersion", "runtime", "save", "set", "setValue",
        "setValues",
        "stage", "stagedValues", "storedRow", "storedValues", "target", "toManyProperty", "toOneProperty", "undo",
        "validate",
        "value", "view", "willSave", "withState", "writeProperty",
    ]

    /// Types that generated or common code uses, which a class of that name would shadow; and types that every class
    /// has as members, which would shadow a class of that name.
    static let types: Set<String> = [
        "Any", "AnyObject", "Array", "Attribute", "Bool", "Character", "Codable", "Collection", "Columns", "Comparable",
        "Condition", "Data", "Database", "DatabaseContext", "DatabaseEnum", "DatabaseObject", "DatabaseSchema", "Date",
        "Decimal", "DeletionPreparation", "Dictionary", "Double", "Encodable", "Decodable", "Entity", "EntityMapping",
        "Equatable", "Error",
        "FetchRequest", "Float", "Hashable", "Int", "Int16", "Int32", "Int64", "Int8", "KeyPath", "KeyValue",
        "KindredError",
        "JSONKeys", "KeyedObject", "KindredModels", "Kindred", "LazyAttribute", "Never", "NeutralValue",
        "NotOverridden", "Optional", "OptionalToOneValue",
        "PostgresDate", "PrimaryKey", "PropertyContent", "PropertyNumber",
        "PostgresInterval",
        "PostgresJSON",
        "PostgresNumeric", "PostgresTime", "PostgresTimeTZ", "PostgresTimestamp", "PostgresValue", "Protocol",
        "Relationship",
        "ColumnRequest", "DatabaseComposite", "NewValues", "UpdatedValues", "PostgresComposite", "PostgresHStore",
        "PostgresInet",
        "PostgresMACAddress", "PostgresMultirange", "PostgresRange", "PostgresVector", "Result", "Row", "SQL", "Self",
        "Sendable", "Sequence", "Set", "String", "Substring", "Swift", "Target", "Task", "ToMany",
        "ToOne", "ToOneValue", "Type", "TypedObject", "UInt", "UInt8", "URL", "UUID", "Void", "Foundation",
    ]
}
