package import KindredDDL
import KindredPostgres

/// Names differences that no statement changes, and differences that are worth a remark.
package enum Unmanaged {
    package static func lines(_ old: SchemaSnapshot, _ new: SchemaSnapshot) -> [String] {
        var lines: [String] = []
        for name in Set(old.items.keys).union(new.items.keys).sorted() {
            switch (old[name], new[name]) {
            case (let item?, nil): if !item.isManaged { lines.append("The \(name.described) is only on the old side.") }
            case (nil, let item?): if !item.isManaged { lines.append("The \(name.described) is only on the new side.") }
            case (let item?, let other?):
                if item.content != other.content,
                    !SchemaPlanner.isAlterable(name, item.content, other.content)
                {
                    lines.append("The \(name.described) differs.")
                }
            case (nil, nil): break
            }
            guard let other = new[name] else { continue }
            let (before, after) = (namedSettings(old[name]), namedSettings(other))
            for key in Set(before.keys).union(after.keys).sorted() where before[key]?.value != after[key]?.value {
                // Only one of two servers may have a column.
                let isOfOne = before[key] == nil || after[key] == nil
                if isOfOne, before[key]?.isUnknown ?? after[key]?.isUnknown ?? false { continue }
                lines.append("The \(key) of the \(name.described) differs.")
            }
        }
        return lines
    }

    private static func namedSettings(_ item: SchemaItem?) -> [ServerText: (value: ServerText, isUnknown: Bool)] {
        let settings = (item?.settings ?? []).filter { $0.reset == nil }
        return Dictionary(settings.map { (ServerText($0.key), (ServerText($0.value), $0.isUnknown)) }) { first, _ in
            first
        }
    }

    /// Things that the new side depends on but that no statement makes, since they are only named.
    static func needed(_ old: SchemaSnapshot, _ new: SchemaSnapshot) -> [String] {
        let dependents = new.dependents
        return new.items.keys.sorted().compactMap { name in
            guard new[name]?.isManaged == false, old[name]?.content != new[name]?.content else { return nil }
            let isUsed = (dependents[name] ?? []).contains { new[$0]?.isManaged == true }
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
            let common = Set(texts: names.0).intersection(Set(texts: names.1))
            guard names.0.filter({ common.contains($0) }) != names.1.filter({ common.contains($0) }) else { return nil }
            return "The columns of the \(name.described) stand in another order; that is not changed."
        }
    }
}

extension SchemaSnapshot {
    /// A copy's snapshot with the things that only the original has: things that are only named, things that are left
    /// out of copies, and the versions of its extensions, which depend on its own server.
    func withOriginals(of original: SchemaSnapshot, _ leftOut: Set<ItemName> = []) -> SchemaSnapshot {
        func isOriginals(_ name: ItemName, _ item: SchemaItem) -> Bool {
            !item.isManaged || name.kind == .extension || leftOut.contains(name)
        }
        var result = self
        result.items = items.filter { !isOriginals($0.key, $0.value) }
        let changed = Set(leftOut.map { $0.owner() })
        for (name, item) in original.items {
            if isOriginals(name, item) {
                result.items[name] = item
                continue
            }
            result.items[name]?.settings += item.settings.filter { $0.reset == nil }
            // Columns that are left out keep their places among the other columns.
            if name.kind == .column, changed.contains(name.owner()) { result.items[name]?.position = item.position }
        }
        return result
    }

    func without(_ names: Set<ItemName>) -> SchemaSnapshot {
        if names.isEmpty { return self }
        var result = self
        result.items = items.filter { !names.contains($0.key) }
        return result.indexed()
    }
}
