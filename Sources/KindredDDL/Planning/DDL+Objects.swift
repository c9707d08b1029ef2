import KindredPostgres

// Privileges, and functions and triggers that are replaced.
extension DDL {
    /// CREATE OR REPLACE for CREATE.
    package static func orReplace(_ definition: String) -> String {
        let start = "CREATE TRIGGER "
        return definition.hasPrefix(start)
            ? "CREATE OR REPLACE TRIGGER \(definition.dropFirst(start.count))" : definition
    }

    /// The words behind ON in GRANT; nil for a thing on which there are no privileges.
    package static func grantTarget(_ name: ItemName, _ content: ItemContent) throws -> String? {
        switch (name.kind, content) {
        case (.table, _), (.view, _), (.foreignTable, _): return try path(name)
        case (.sequence, _): return "SEQUENCE \(try path(name))"
        case (.schema, _): return "SCHEMA \(try self.name(name.schema))"
        case (.type, _): return "TYPE \(try path(name))"
        case (.function, .object(let object)): return object.target
        case (.other, .object(let object)):
            switch name.name {
            // An aggregate has the privileges of a function.
            case "aggregate":
                let signature = object.target.dropFirst("AGGREGATE ".count)
                return "FUNCTION \(signature.hasSuffix("(*)") ? "\(signature.dropLast(2)))" : String(signature))"
            case "server": return "FOREIGN \(object.target)"
            case "foreign-data wrapper": return object.target
            default: return nil
            }
        default: return nil
        }
    }

    /// GRANT; `target` comes from ``grantTarget(_:_:)``.
    package static func grant(_ grant: Grant, on target: String) throws -> String {
        "GRANT \(try privilege(grant)) ON \(target) TO \(try role(grant))\(grant.isGrantable ? " WITH GRANT OPTION" : "")"
    }

    /// REVOKE, or REVOKE GRANT OPTION FOR.
    package static func revoke(_ grant: Grant, on target: String, isOptionOnly: Bool = false) throws -> String {
        "REVOKE \(isOptionOnly ? "GRANT OPTION FOR " : "")\(try privilege(grant)) ON \(target) FROM \(try role(grant))"
    }

    private static func privilege(_ grant: Grant) throws -> String {
        grant.column.isEmpty ? grant.privilege : "\(grant.privilege) (\(try name(grant.column)))"
    }

    private static func role(_ grant: Grant) throws -> String {
        grant.role.isEmpty ? "PUBLIC" : try name(grant.role)
    }
}
