import TestSupport

// Functions, triggers and policies of a schema made at random.
extension RandomSchema {
    /// The parts of a schema beside its tables.
    struct Code {
        enum Function {
            /// Of a text, for checks: whether it is shorter than a number.
            case isShort(than: Int)
            /// Without arguments, for defaults.
            case number(Int)
            /// Of a trigger: sets a column to itself, and writes a line into another table.
            case trigger(column: String, log: String?)
        }

        var functions: [String: Function] = [:]
        var triggers: [String: (table: String, function: String, when: String)] = [:]
        var policies: [String: (table: String, column: String)] = [:]
        var checks: [String: (table: String, column: String, function: String)] = [:]
        var defaults: [String: (table: String, column: String, function: String)] = [:]
    }

    mutating func addCode(using random: inout some RandomNumberGenerator) {
        for _ in 0..<Int.random(in: 3...10, using: &random) { changeCode(using: &random) }
    }

    mutating func changeCode(using random: inout some RandomNumberGenerator) {
        guard let table = tables.keys.sorted().randomElement(using: &random),
            let column = tables[table]?.columns.randomElement(using: &random)?.name
        else { return }
        let number = Int.random(in: 0...2, using: &random)
        switch Int.random(in: 0...9, using: &random) {
        case 0: code.functions["is short \(number)"] = .isShort(than: 40 + Int.random(in: 0...1, using: &random))
        case 1: code.functions["number\(number)"] = .number(Int.random(in: 1...2, using: &random))
        case 2, 3:
            let log = random.chance(30) ? random.pick(tables.keys.sorted()) : nil
            code.functions["Note \(number)"] = .trigger(column: column, log: log)
        case 4, 5:
            let when = random.pick(["INSERT", "INSERT OR UPDATE", "UPDATE", "DELETE"])
            code.triggers["trigger \(number)"] = (table, "Note \(Int.random(in: 0...2, using: &random))", when)
        case 6: code.policies["policy \(number)"] = (table, column)
        case 7: code.checks["checked \(number)"] = (table, column, "is short \(Int.random(in: 0...2, using: &random))")
        case 8: code.defaults["\(number)"] = (table, column, "number\(Int.random(in: 0...2, using: &random))")
        default:
            code.functions[code.functions.keys.sorted().randomElement(using: &random) ?? ""] = nil
            code.triggers[code.triggers.keys.sorted().randomElement(using: &random) ?? ""] = nil
            code.policies[code.policies.keys.sorted().randomElement(using: &random) ?? ""] = nil
        }
    }

    /// The script with functions before the tables, and with their callers behind.
    ///
    /// Things that name a thing that is gone are left out, as in ``script``.
    var scriptWithCode: String {
        let functions = code.functions.sorted { $0.key < $1.key }.compactMap { name, function in
            switch function {
            case .isShort(let length):
                "CREATE FUNCTION public.\(quoted(name))(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS "
                    + "'SELECT length($1) < \(length)'"
            case .number(let number):
                "CREATE FUNCTION public.\(quoted(name))() RETURNS integer LANGUAGE sql AS 'SELECT \(number)'"
            case .trigger: nil as String?
            }
        }
        var lines: [String] = []
        for (name, function) in code.functions.sorted(by: { $0.key < $1.key }) {
            guard case .trigger(let column, let log) = function else { continue }
            lines.append(
                """
                CREATE FUNCTION public.\(quoted(name))() RETURNS trigger LANGUAGE plpgsql AS $body$
                BEGIN
                    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                    \(body(name, column, log))
                    RETURN NEW;
                END $body$
                """)
        }
        for (name, trigger) in code.triggers.sorted(by: { $0.key < $1.key }) where tables[trigger.table] != nil {
            guard case .trigger? = code.functions[trigger.function] else { continue }
            lines.append(
                "CREATE TRIGGER \(quoted(name)) BEFORE \(trigger.when) ON \(path(trigger.table)) FOR EACH ROW "
                    + "EXECUTE FUNCTION public.\(quoted(trigger.function))()")
        }
        for (name, policy) in code.policies.sorted(by: { $0.key < $1.key }) where has(policy.column, policy.table) {
            lines.append("ALTER TABLE \(path(policy.table)) ENABLE ROW LEVEL SECURITY")
            lines.append(
                "CREATE POLICY \(quoted(name)) ON \(path(policy.table)) FOR SELECT USING (\(quoted(policy.column)) IS NOT NULL)"
            )
        }
        for (name, check) in code.checks.sorted(by: { $0.key < $1.key }) where code.functions[check.function] != nil {
            guard let table = tables[check.table], type(of: check.column, in: table) == "text" else { continue }
            lines.append(
                "ALTER TABLE \(path(check.table)) ADD CONSTRAINT \(quoted(name)) "
                    + "CHECK (public.\(quoted(check.function))(\(quoted(check.column))))")
        }
        for (_, item) in code.defaults.sorted(by: { $0.key < $1.key }) where code.functions[item.function] != nil {
            guard let table = tables[item.table], type(of: item.column, in: table) == "integer",
                case .plain? = table.columns.first(where: { $0.name == item.column })?.column.kind
            else { continue }
            lines.append(
                "ALTER TABLE \(path(item.table)) ALTER COLUMN \(quoted(item.column)) "
                    + "SET DEFAULT public.\(quoted(item.function))()")
        }
        return (functions + [""]).joined(separator: ";\n") + script + lines.map { $0 + ";\n" }.joined()
    }

    /// Of a trigger's function: only what all tables with the function have.
    private func body(_ function: String, _ column: String, _ log: String?) -> String {
        let owners = code.triggers.values.filter { $0.function == function }.map(\.table)
        var text = ""
        let isEverywhere = owners.allSatisfy { owner in
            guard has(column, owner) else { return false }
            if case .generated? = tables[owner]?.columns.first(where: { $0.name == column })?.column.kind {
                return false
            }
            return true
        }
        if isEverywhere { text += "NEW.\(quoted(column)) := NEW.\(quoted(column));" }
        if let log, tables[log] != nil { text += " PERFORM \(quoted("id")) FROM \(path(log)) LIMIT 1;" }
        return text
    }

    private func has(_ column: String, _ table: String) -> Bool {
        tables[table]?.columns.contains { $0.name == column } == true
    }
}
