import KindredDDL

/// What differs and is not changed, and what is only worth a remark.
enum Unmanaged {
    static func lines(_ old: SchemaSnapshot, _ new: SchemaSnapshot) -> [String] {
        var lines: [String] = []
        for name in Set(old.items.keys).union(new.items.keys).sorted() where !SchemaPlanner.isManaged(name) {
            // What stands on a table that comes or goes comes and goes with it.
            if name.kind == .trigger || name.kind == .policy {
                let owners = [name.owner(), name.owner(.view)]
                guard owners.contains(where: { old[$0] != nil }), owners.contains(where: { new[$0] != nil }) else {
                    continue
                }
            }
            switch (old[name], new[name]) {
            case (_?, nil): lines.append("The \(name.described) is only on the old side.")
            case (nil, _?): lines.append("The \(name.described) is only on the new side.")
            case (let old?, let new?):
                if old.content != new.content { lines.append("The \(name.described) differs.") }
            case (nil, nil): break
            }
        }
        for (name, item) in old.items.sorted(by: { $0.key < $1.key }) {
            guard let other = new[name], other.grants != item.grants else { continue }
            lines.append("The privileges on the \(name.described) differ.")
        }
        return lines
    }

    /// What the new side builds on, and the old one lacks or has otherwise: functions and the like, and extensions.
    static func needed(_ old: SchemaSnapshot, _ new: SchemaSnapshot) -> [String] {
        let dependents = new.dependents
        return new.items.keys.sorted().compactMap { name in
            guard !SchemaPlanner.isManaged(name), old[name]?.content != new[name]?.content else { return nil }
            let isUsed = name.kind == .extension || (dependents[name] ?? []).contains(where: SchemaPlanner.isManaged)
            return isUsed ? "the \(name.described)" : nil
        }
    }

    /// The order of columns and attributes stays as it is.
    static func orderRemarks(_ old: SchemaSnapshot, _ new: SchemaSnapshot) -> [String] {
        old.items.keys.sorted().compactMap { name in
            let names: ([String], [String])
            switch (old[name]?.content, new[name]?.content) {
            case (.table, .table): names = (old.columns(of: name).map(\.part), new.columns(of: name).map(\.part))
            case (.composite(let before), .composite(let after)): names = (before.map(\.name), after.map(\.name))
            default: return nil
            }
            let common = Set(names.0).intersection(names.1)
            guard names.0.filter(common.contains) != names.1.filter(common.contains) else { return nil }
            return "The columns of the \(name.described) stand in another order; that is not changed."
        }
    }
}

extension SchemaSnapshot {
    /// A copy's snapshot with what only the original has: privileges, extensions, rules and the like.
    func withUnmanaged(of original: SchemaSnapshot) -> SchemaSnapshot {
        var result = self
        result.items = items.filter { $0.key.kind != .other && $0.key.kind != .extension }
        for (name, item) in original.items {
            if name.kind == .other || name.kind == .extension {
                result.items[name] = item
            } else {
                result.items[name]?.grants = item.grants
            }
        }
        return result
    }

    /// The roles that privileges on views and tables, and policies, name.
    var roles: [String] {
        var roles: Set<String> = []
        for (name, item) in items {
            if name.kind == .view || name.kind == .table { roles.formUnion(item.grants.map(\.role)) }
            roles.formUnion(item.roles)
        }
        return roles.subtracting([""]).sorted()
    }
}
