import KindredPostgres
import KindredSchema
import Synchronization

extension KindredError {
    /// Translates the server's refusal of a write: entity, key and constraint.
    ///
    /// Nil unless it comes from an integrity constraint (SQLSTATE class 23), from a column's type (class 22), from a view's CHECK
    /// OPTION (44000), from the database's own code (RAISE), or from a changed database; other errors are passed on.
    init?(
        refused error: PostgresError, entity: EntityRuntime, key: String?, among objects: [DatabaseObject] = [],
        advice: String = ""
    ) {
        // Every refusal of a write comes by here, of a save, a deletion, a request or a set.
        if error.sqlState == .deadlockDetected { entity.hasDeadlocked.store(true, ordering: .relaxed) }
        if let kept = KeptRows(error) {
            self.init(kept, error, entity: entity, key: key, object: objects.count == 1 ? objects[0] : nil)
            return
        }
        // The error with the entity's names, for the message; the server's own error stays the cause.
        let (original, error) = (error, error.naming(entity))
        let reason: String
        var code = Code.constraintViolation
        switch error.sqlState {
        case .uniqueViolation?: reason = "another row already has this value"
        case .foreignKeyViolation?, .restrictViolation?: reason = entity.reasonOfForeignKey(error)
        case .checkViolation?: reason = "the value breaks the rule"
        case .exclusionViolation?: reason = "it conflicts with another row"
        case .withCheckOptionViolation?: reason = "the view would not show the row (CHECK OPTION)"
        case .notNullViolation?:
            code = .missingValue
            reason = "\(error.server?.table ?? entity.name.name).\(error.server?.column ?? "a column") may not be NULL"
        case .stringDataRightTruncation?, .numericValueOutOfRange?:
            code = .valueTooLarge
            reason = "a value is longer or larger than its column takes"
        case let state? where state.class == .dataException:
            code = .wrongType
            reason = "the server cannot use a value, or a calculation over it has failed (SQLSTATE \(state))"
        case let state? where error.isRaised:
            reason = "a trigger or function of the database refused it by RAISE (SQLSTATE \(state))"
        default:
            self.init(rejectedStatement: original, entity: entity.name)
            return
        }
        let constraint = error.server?.constraint
        let name = constraint.map { " by constraint \"\($0)\"" } ?? ""
        let refused = RefusedRow(error, among: objects)
        let key =
            key ?? entity.attribute(error.server?.column) ?? entity.attribute(refused.key)
            ?? constraint.flatMap { entity.entity.checkedColumns[$0]?.text } ?? entity.onlyAttribute(ofTypeIn: error)
        let object = refused.object
        let what = object.map { "\($0)" } ?? "\(entity.name)"
        let message = "The change of \(what)\(key.map { ".\($0)" } ?? "") was refused\(name): \(reason)\(advice)"
        // For an exclusion constraint the server quotes the other row, which may be another tenant's.
        let quotesOthers = entity.tenantColumn != nil && error.sqlState == .exclusionViolation
        self.init(
            code,
            message,
            entity: entity.name.description,
            key: key,
            constraint: constraint,
            underlying: quotesOthers ? original.withoutDetail : original,
            problems: [
                KindredError.Problem(
                    code,
                    message,
                    object: object,
                    entity: entity.name.description,
                    key: key,
                    constraint: constraint
                )
            ]
        )
    }
}

extension KindredError {
    /// The error for rows that a trigger or policy kept.
    ///
    /// The statement has failed, so that it has no effect.
    private init(
        _ kept: KeptRows, _ error: PostgresError, entity: EntityRuntime, key: String?, object: DatabaseObject?
    ) {
        let others = entity.locksFound ? "" : ", or another transaction changed them at the same time"
        let missing = kept.expected - kept.written
        let rows = missing > 0 ? "\(missing) of \(kept.expected) rows" : "rows"
        let message = """
            A trigger, rule or policy of \(entity.name) kept \(rows) from being written as asked for\(others); nothing was \
            written
            """
        self.init(
            .constraintViolation, message, entity: entity.name.description, key: key, underlying: error,
            problems: [
                KindredError.Problem(
                    .constraintViolation, message, object: object, entity: entity.name.description, key: key)
            ])
    }
}

extension EntityRuntime {
    /// The reason why a foreign key refused a write: the server names the referencing table in either case.
    fileprivate func reasonOfForeignKey(_ error: PostgresError) -> String {
        guard let server = error.server, let schema = server.schema, let table = server.table else {
            return "a row that it references is missing, or rows still reference it"
        }
        let holder = QualifiedName(schema: schema, name: table)
        // The server names the tenant's schema, and the model the template's.
        let isHolder = name.isTenants ? holder.name == name.name : holder == name
        let key = foreignKeys.first { !$0.model.isByView && $0.model.foreignKey == server.constraint }?.model
        let detail = server.detail ?? ""
        // In other languages the table tells, and in a self-reference the columns in the detail.
        func isNamed(_ columns: [String]?) -> Bool {
            columns.map { detail.contains("(\($0.joined(separator: ", ")))=(") } ?? false
        }
        let isReferenced =
            detail.contains("is still referenced from table")
            || !detail.contains("is not present in table")
                && (!isHolder || isNamed(key?.destinationColumns) && !isNamed(key?.columns))
        if isReferenced { return "rows of \(holder) still refer to it" }
        let columns = key.map { " (\($0.columns.joined(separator: ", ")))" } ?? ""
        let target = key.map { "\($0.destination)" } ?? "the table that it refers to"
        return "there is no row of \(target) that its foreign key\(columns) refers to"
    }

    /// The name, if an attribute has it: the server names columns of other tables too, and expressions of indexes.
    fileprivate func attribute(_ name: String?) -> String? { name.flatMap { attributeIndex(of: $0) == nil ? nil : $0 } }

    /// The attribute that a value was too large for, if only one has the type that the server names.
    fileprivate func onlyAttribute(ofTypeIn error: PostgresError) -> String? {
        let name: Substring? =
            error.sqlState == .stringDataRightTruncation
            ? error.server?.message.firstRange(of: " for type ").flatMap { range in
                error.server?.message[range.upperBound...]
            }
            // A domain's rule.
            : error.sqlState == .checkViolation ? error.server?.dataType.map { $0[...] } : nil
        guard let name else { return nil }
        let found = entity.attributes.filter { $0.typeName == name }
        return found.count == 1 ? found[0].name : nil
    }
}

extension SchemaRuntime {
    /// Translates an error of COMMIT from a deferred constraint.
    func refusedAtEnd(_ error: PostgresError, among objects: [DatabaseObject]) -> any Error {
        let named = error.naming(in: self)
        let entity: EntityRuntime
        if let table = named.server?.table, let schema = named.server?.schema,
            let found = self[name(ofServers: QualifiedName(schema: schema, name: table))]
        {
            entity = found
        } else if error.isRaised, let first = objects.first?.runtime, objects.allSatisfy({ $0.runtime === first }) {
            // A deferred trigger names no table.
            entity = first
        } else {
            return error
        }
        let own = objects.filter { $0.runtime === entity }
        return KindredError(refused: error, entity: entity, key: nil, among: own) ?? error
    }
}

/// The object that the server refused, as far as its error tells.
///
/// The error's detail names columns and values: `Key (name)=(Dr) already exists.` for keys, `Failing row contains (1,
/// Dr, null).` for checks. Both are compared with the objects' rows, and not kept.
struct RefusedRow {
    private(set) var object: DatabaseObject?
    private(set) var key: String?
    /// The columns and expressions of the index that refused it; empty for other refusals, and where the server does not say.
    private(set) var columns: [String] = []

    init(_ error: PostgresError, among objects: [DatabaseObject]) {
        let detail = error.server?.detail ?? ""
        if let end = detail.firstRange(of: ")=("), let start = detail[..<end.lowerBound].firstIndex(of: "(") {
            let names = Self.names(in: detail[detail.index(after: start)..<end.lowerBound])
            columns = names
            if names.count == 1 { key = names[0] }
            let values = detail[end.upperBound...]
            object = Self.only(objects) { object in
                // With the keys of new objects that it refers to.
                let row = (try? SavedObject(object))?.row ?? object.row
                let texts = names.map { name in
                    object.runtime.attributeIndex(of: name).flatMap { row.valueOrRaw(at: $0)?.description }
                }
                guard !texts.contains(nil) else { return false }
                return values.hasPrefix(texts.compactMap { $0 }.joined(separator: ", ") + ")")
            }
        } else if let start = detail.firstIndex(of: "("), let end = detail.lastIndex(of: ")"), start < end {
            let values = detail[detail.index(after: start)..<end].split(
                separator: ", ", omittingEmptySubsequences: false)
            object = Self.only(objects) { object in
                let (row, columns) = object.withState { ($0.row, $0.staging?.columns ?? []) }
                guard values.count == object.entity.attributes.count(where: { !$0.isHidden }) else { return false }
                return columns.allSatisfy { Self.shows(values[$0], row.valueOrRaw(at: $0)?.description ?? "null") }
            }
        }
        if object == nil, objects.count == 1 { object = objects[0] }
    }

    /// Whether the server's detail shows a text; it prints the first 64 bytes.
    private static func shows(_ shown: Substring, _ text: String) -> Bool {
        shown == text || text.utf8.count > 64 && shown.hasSuffix("...") && text.hasPrefix(shown.dropLast(3))
    }

    /// The last object that fits: of rows with equal keys the server refuses the later one.
    private static func only(_ objects: [DatabaseObject], fits: (DatabaseObject) -> Bool) -> DatabaseObject? {
        var found: DatabaseObject?
        for object in objects where fits(object) {
            found = object
        }
        return found
    }

    /// The columns and expressions of a list such as `id, "a, b", lower(name)`.
    private static func names(in list: Substring) -> [String] {
        var (names, start, isQuoted, depth) = ([String](), list.startIndex, false, 0)
        for place in list.indices {
            switch list[place] {
            case "\"": isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            case "," where !isQuoted && depth == 0:
                names.append(unquoted(list[start..<place]))
                start = list.index(after: place)
                if start < list.endIndex, list[start] == " " { start = list.index(after: start) }
            default: break
            }
        }
        return names + [unquoted(list[start...])]
    }

    static func unquoted(_ name: Substring) -> String {
        guard name.hasPrefix("\""), name.hasSuffix("\""), name.count > 1 else { return String(name) }
        return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }
}

extension KindredError {
    /// Translates the server's refusal of a generated statement: the database has changed since the model was read, the
    /// role lacks a privilege, a value or calculation of a condition fails, or the server fails by itself.
    ///
    /// nil for all other failures, which are passed on unchanged.
    package init?(rejectedStatement error: PostgresError, entity: QualifiedName) {
        if let capability = error.missing {
            self.init(
                .unsupported, "A statement for \(entity) was refused. \(error.lacking(capability).message)",
                entity: entity.description, underlying: error)
            return
        }
        let code: Code
        let advice: String
        switch error.sqlState {
        case .undefinedTable?, .undefinedColumn?, .undefinedObject?, .invalidSchemaName?:
            code = .schemaChanged
            advice =
                "the database has changed since the model was read: call refreshSchema(), and generate typed classes again"
        case _ where error.isOfMissingType:
            code = .schemaChanged
            advice =
                "a type or a column has changed since the model was read: call refreshSchema(), and make a new context"
        case _ where error.isOfStalePlan:
            code = .schemaChanged
            advice =
                """
                a table has changed since the statement was prepared, and the transaction cannot go on: begin another one, and \
                call refreshSchema() if the model no longer fits
                """
        case .insufficientPrivilege? where error.isOfSettings:
            code = .accessDenied
            advice = """
                the statement was not executed: the role of the connection may not make a setting of the context, or take its \
                role. GRANT SET ON PARAMETER, from PostgreSQL 15 on, lets it make one such as session_replication_role, and \
                membership in a role lets it take that
                """
        case .insufficientPrivilege?:
            code = .accessDenied
            advice = "grant the role the privilege, or see the table's row-level security policies"
        case .readOnlyTransaction?:
            code = .readOnlyTransaction
            advice =
                "the server is a replica or set to be read-only, or the transaction was begun as one that only reads"
        case let state? where state.class == .dataException || error.isRaised:
            code = .invalidCondition
            advice = "check the values and calculations of its conditions"
        case let state? where ["58", "F0", "XX"].contains(state.class.rawValue):
            code = .serverFailed
            advice =
                "if tables or types were dropped and made again, call refreshSchema(), else see the server's log"
        default: return nil
        }
        self.init(
            code, "A statement for \(entity) was refused: \(error.message); \(advice)", entity: entity.description,
            underlying: error)
    }
}

extension PostgresError {
    /// Whether a statement failed because a type is gone, or a column is of another type.
    fileprivate var isOfMissingType: Bool {
        // Functions and triggers of the database have errors of their own.
        guard server?.context == nil else { return false }
        return switch sqlState {
        case .datatypeMismatch?: true
        // The server has no code of its own for it, and never translates the message.
        case .internalError?: server?.message.hasPrefix("cache lookup failed for type ") == true
        default: false
        }
    }

    /// The feature that a generated statement needs and the server says it lacks, by words that no server translates.
    fileprivate var missing: ServerCapability? {
        let words = server?.message.split { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? []
        switch sqlState {
        case .undefinedColumn? where words.contains("xmin"): return .xmin
        case .featureNotSupported? where words.contains("SKIP"), .syntaxError? where words.contains("SKIP"):
            return statement?.contains(" SKIP LOCKED") == true ? .skipLocked : nil
        default: return nil
        }
    }

    /// Whether a prepared statement no longer fits its table.
    fileprivate var isOfStalePlan: Bool {
        sqlState == .featureNotSupported && server?.routine == "RevalidateCachedQuery"
    }
}
