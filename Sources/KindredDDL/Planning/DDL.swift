import HarmlessText
import KindredPostgres

/// Writes names, texts and definitions into statements of DDL.
package enum DDL {
    /// A name between quotes.
    package static func name(_ name: String) throws -> String { try SQLIdentifier.quote(name) }

    /// A relation's or type's name with its schema.
    package static func path(_ name: ItemName) throws -> String { try name.quotedPath }

    /// A text between quotes, as every setting of `standard_conforming_strings` reads it.
    ///
    /// Control characters and such are written out, so that it can be shown and piped as it is.
    package static func literal(_ text: String) -> String {
        let isPlain = !text.unicodeScalars.contains { $0 == "\\" || $0.isHarmful }
        var literal = isPlain ? "'" : "E'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": literal += "''"
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\t": literal += "\\t"
            case _ where scalar.isHarmful: literal += scalar.inFourDigits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "'"
    }

    /// A column as in CREATE TABLE.
    package static func column(_ name: String, _ column: ColumnItem) throws -> String {
        var text = "\(try self.name(name)) \(column.type)"
        if let collation = column.collation { text += " COLLATE \(collation)" }
        if let identity = column.identity {
            text += " \(generated(identity, column))"
        } else if let generation = column.generation {
            text += " GENERATED ALWAYS AS (\(generation)) STORED"
        } else if let defaultText = column.defaultText {
            text += " DEFAULT \(defaultText)"
        }
        return column.isNotNull ? text + " NOT NULL" : text
    }

    /// An identity; its sequence's options are left out where they are the server's defaults.
    package static func generated(_ identity: ColumnItem.Identity, _ column: ColumnItem) -> String {
        let isUsual = column.identityOptions == ColumnItem.usualIdentityOptions(of: column.base)
        return "GENERATED \(words(identity)) AS IDENTITY"
            + (isUsual ? "" : " (\(column.identityOptions.joined(separator: " ")))")
    }

    package static func words(_ identity: ColumnItem.Identity) -> String {
        identity == .always ? "ALWAYS" : "BY DEFAULT"
    }

    package static func createTable(_ name: ItemName, in snapshot: SchemaSnapshot) throws -> String {
        guard let table = snapshot.table(name) else { return "" }
        var parts = try snapshot.columns(of: name).compactMap { part in
            try snapshot.column(part).map { try column(part.part, $0) }
        }
        for part in snapshot.constraints(of: name) {
            guard let constraint = snapshot.constraint(part), constraint.kind != .foreignKey, constraint.isValid else {
                continue
            }
            parts.append("CONSTRAINT \(try self.name(part.part)) \(constraint.definition)")
        }
        var text = "CREATE \(table.isUnlogged ? "UNLOGGED " : "")TABLE \(try path(name))"
        let list = parts.isEmpty ? "" : "\n    \(parts.joined(separator: ",\n    "))\n"
        if let bound = table.bound, let parent = table.parents.first {
            text += " PARTITION OF \(try path(parent))\(list.isEmpty ? "" : " (\(list))") \(bound)"
        } else {
            text += " (\(list))"
            if !table.parents.isEmpty {
                text += " INHERITS (\(try table.parents.map(path).joined(separator: ", ")))"
            }
        }
        if let key = table.partitionKey { text += " PARTITION BY \(key)" }
        return text + (try options(table.options))
    }

    /// Storage parameters, as the catalog keeps them: `fillfactor=70`.
    package static func options(_ options: [String]) throws -> String {
        options.isEmpty ? "" : " WITH (\(try options.map(option).joined(separator: ", ")))"
    }

    package static func option(_ option: String) throws -> String {
        let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return "\(try optionName(option)) = \(literal(parts.count > 1 ? String(parts[1]) : ""))"
    }

    package static func optionName(_ option: String) throws -> String {
        // A parameter of the TOAST table has a prefix.
        try option.prefix { $0 != "=" }.split(separator: ".").map { try name(String($0)) }.joined(separator: ".")
    }

    package static func createType(_ name: ItemName, in snapshot: SchemaSnapshot) throws -> String {
        let path = try path(name)
        switch snapshot[name]?.content {
        case .enumeration(let labels):
            return "CREATE TYPE \(path) AS ENUM (\(labels.map(literal).joined(separator: ", ")))"
        case .composite(let fields):
            return "CREATE TYPE \(path) AS (\(try fields.map(field).joined(separator: ", ")))"
        case .range(let definition): return "CREATE TYPE \(path) AS RANGE (\(definition))"
        case .domain(let domain):
            var text = "CREATE DOMAIN \(path) AS \(domain.base)"
            if let collation = domain.collation { text += " COLLATE \(collation)" }
            if let defaultText = domain.defaultText { text += " DEFAULT \(defaultText)" }
            if domain.isNotNull { text += " NOT NULL" }
            for part in snapshot.constraints(of: name) {
                guard let constraint = snapshot.constraint(part) else { continue }
                text += " CONSTRAINT \(try self.name(part.part)) \(constraint.definition)"
            }
            return text
        default: return ""
        }
    }

    package static func field(_ field: Field) throws -> String {
        "\(try name(field.name)) \(field.type)" + (field.collation.map { " COLLATE \($0)" } ?? "")
    }

    package static func createSequence(_ name: ItemName, _ sequence: SequenceItem) throws -> String {
        "CREATE \(sequence.isUnlogged ? "UNLOGGED " : "")SEQUENCE \(try path(name)) AS \(sequence.type) "
            + sequence.options.joined(separator: " ")
    }

    package static func createView(_ name: ItemName, _ view: ViewItem, orReplace: Bool = false) throws -> String {
        var query = view.query[...]
        while query.last == ";" || query.last?.isWhitespace == true { query = query.dropLast() }
        let columns = try view.columns.map { try self.name($0.name) }.joined(separator: ", ")
        let kind = view.isMaterialized ? "MATERIALIZED VIEW" : orReplace ? "OR REPLACE VIEW" : "VIEW"
        return "CREATE \(kind) \(try path(name))\(columns.isEmpty ? "" : " (\(columns))")"
            + "\(try options(view.options)) AS\n\(query)"
    }

    /// The statement that does not run the query of a materialized view; other statements as they are.
    package static func withoutRows(_ statement: String) -> String {
        statement.hasPrefix("CREATE MATERIALIZED VIEW ") ? statement + "\nWITH NO DATA" : statement
    }

    /// ALTER … RENAME; nil for things that have no such statement.
    package static func rename(_ name: ItemName, _ content: ItemContent?, to newName: String) throws -> String? {
        let (path, new) = (try path(name), try self.name(newName))
        switch (name.kind, content) {
        case (.column, .other): return nil
        case (.column, _): return "ALTER TABLE \(path) RENAME COLUMN \(try self.name(name.part)) TO \(new)"
        case (.constraint, _): return "ALTER TABLE \(path) RENAME CONSTRAINT \(try self.name(name.part)) TO \(new)"
        case (.table, _): return "ALTER TABLE \(path) RENAME TO \(new)"
        case (.view, .view(let view)):
            return "ALTER \(view.isMaterialized ? "MATERIALIZED " : "")VIEW \(path) RENAME TO \(new)"
        case (.sequence, _): return "ALTER SEQUENCE \(path) RENAME TO \(new)"
        case (.index, _): return "ALTER INDEX \(path) RENAME TO \(new)"
        case (.type, .domain): return "ALTER DOMAIN \(path) RENAME TO \(new)"
        case (.type, _): return "ALTER TYPE \(path) RENAME TO \(new)"
        default: return nil
        }
    }

    /// COMMENT ON, with NULL for none.
    package static func comment(_ name: ItemName, _ content: ItemContent, _ comment: String?) throws -> String? {
        let target: String
        switch (name.kind, content) {
        case (.schema, _): target = "SCHEMA \(try self.name(name.schema))"
        case (.type, .domain): target = "DOMAIN \(try path(name))"
        case (.type, _): target = "TYPE \(try path(name))"
        case (.sequence, _): target = "SEQUENCE \(try path(name))"
        case (.table, _): target = "TABLE \(try path(name))"
        case (.column, _): target = "COLUMN \(try path(name)).\(try self.name(name.part))"
        case (.constraint, .constraint(let constraint)):
            target =
                "CONSTRAINT \(try self.name(name.part)) ON \(constraint.isOfDomain ? "DOMAIN " : "")\(try path(name))"
        case (.index, _): target = "INDEX \(try path(name))"
        case (.view, .view(let view)):
            target = "\(view.isMaterialized ? "MATERIALIZED " : "")VIEW \(try path(name))"
        case (_, .object(let object)): target = object.target
        case (.extension, _): target = "EXTENSION \(try self.name(name.name))"
        default: return nil
        }
        return "COMMENT ON \(target) IS \(comment.map(literal) ?? "NULL")"
    }

    /// The index's statement with CONCURRENTLY.
    package static func concurrently(_ definition: String) -> String {
        for start in ["CREATE UNIQUE INDEX ", "CREATE INDEX "] where definition.hasPrefix(start) {
            return start + "CONCURRENTLY " + definition.dropFirst(start.count)
        }
        return definition
    }
}

extension ColumnItem {
    /// The options that the server gives the sequence of an identity of a type by itself.
    package static func usualIdentityOptions(of type: String) -> [String] {
        let maximum = type == "smallint" ? Int64(Int16.max) : type == "integer" ? Int64(Int32.max) : Int64.max
        return ["INCREMENT BY 1", "MINVALUE 1", "MAXVALUE \(maximum)", "START WITH 1", "CACHE 1", "NO CYCLE"]
    }
}
