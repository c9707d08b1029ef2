package import KindredDDL
import KindredPostgres

/// The things that are in no copy: things that only a superuser may make, and everything that depends on them.
///
/// They are left out of both sides of a comparison, so that both sides of the trial have the same things.
package struct LeftOut {
    /// The reason of each thing, in words for people.
    private var reasons: [ItemName: String] = [:]
    /// The things that a statement of a script should have made or changed, and everything that depends on them:
    /// nothing is known of them on that side.
    private(set) var unknown: Set<ItemName> = []
    /// Extensions of the list that the server does not trust: they are made first.
    private var untrusted: Set<ServerText> = []
    private var availability: [ServerText: ScratchServer.Availability] = [:]
    /// The names of columns that are left out.
    private var columns: Set<ServerText> = []

    /// Whether nothing is left out.
    package var isEmpty: Bool { reasons.isEmpty }

    var names: Set<ItemName> { Set(reasons.keys) }

    /// Finds the things to leave out of copies of schemas.
    ///
    /// Asks the server about extensions, by one statement, where a schema has any.
    package static func find(in sides: [SchemaSnapshot], on server: ScratchServer) async throws -> LeftOut {
        try await find(in: sides, unknown: [], on: server)
    }

    /// - Parameter stated: The things that statements would have made or changed that were left out of a script.
    static func find(
        in sides: [SchemaSnapshot], unknown stated: [StatedThing], on server: ScratchServer
    ) async throws -> LeftOut {
        var result = LeftOut()
        let extensions = sides.flatMap { $0.items.keys.filter { $0.kind == .extension }.map(\.name) }
        result.availability = try await server.availability(of: Set(texts: extensions))
        let dependents = sides.map(\.dependents)
        if !stated.isEmpty {
            for name in Set(sides.flatMap(\.items.keys)) where stated.contains(where: { $0.isName(name) }) {
                result.reasons[name] = "a statement about it is left out of a script"
            }
            result.spread(from: result.names, in: sides, dependents)
            result.unknown = result.names
        }
        // A thing's own reason comes before the reason of a thing that it needs.
        var found: [ItemName: String] = [:]
        for side in sides {
            for (name, item) in side.items where result.reasons[name] == nil {
                if let reason = result.reason(name, item, server) { found[name] = reason }
            }
        }
        result.reasons.merge(found) { first, _ in first }
        result.spread(from: Set(found.keys), in: sides, dependents)
        var needing: [ItemName: String] = [:]
        for side in sides {
            for (name, item) in side.items where result.reasons[name] == nil {
                guard let missing = item.extensions.sorted().first(where: { result.isLeftOut(extension: $0) }) else {
                    continue
                }
                needing[name] = "it needs the extension \(missing.text)"
            }
        }
        result.reasons.merge(needing) { first, _ in first }
        result.spread(from: Set(needing.keys), in: sides, dependents)
        result.columns = Set(texts: result.names.filter { $0.kind == .column }.map(\.part))
        return result
    }

    private func isLeftOut(extension name: ServerText) -> Bool {
        reasons[ItemName(kind: .extension, schema: "", name: name.text)] != nil
    }

    // MARK: Reasons

    private mutating func reason(_ name: ItemName, _ item: SchemaItem, _ server: ScratchServer) -> String? {
        switch item.content {
        case .extension:
            guard let state = availability[ServerText(name.name)] else {
                return "it is not installed with the embedded server"
            }
            if state.isTrusted { return nil }
            guard server.listed.contains(name.name) else {
                return "the server does not trust it, and it is not in the list of extensions"
            }
            untrusted.insert(ServerText(name.name))
            return nil
        case .other:
            let isOrdinary = name.kind == .other && ["publication", "user mapping", "transform"].contains(name.name)
            return isOrdinary ? "no copy has it" : Self.superuser
        case .object(let object): return Self.reason(name, item, object)
        default: return nil
        }
    }

    private static let superuser = "only a superuser may make it"

    private static func reason(_ name: ItemName, _ item: SchemaItem, _ object: ObjectItem) -> String? {
        if let privilege = item.privilege { return "\(superuser), since \(privilege)" }
        guard name.kind == .other else { return nil }
        switch name.name {
        case "event trigger", "foreign-data wrapper": return superuser
        case "cast":
            // The owner of one of its types may make a cast, and the role owns all types of the schema in a copy.
            let hasOwnType = item.dependencies.contains { [.type, .table, .view, .foreignTable].contains($0.kind) }
            let hasFunction = !object.definition.joined().contains(" WITHOUT FUNCTION")
            return hasOwnType && hasFunction ? nil : superuser
        default: return nil
        }
    }

    /// Leaves out everything that depends on things that are left out, on either side.
    private mutating func spread(
        from names: Set<ItemName>, in sides: [SchemaSnapshot], _ dependents: [[ItemName: Set<ItemName>]]
    ) {
        guard !names.isEmpty else { return }
        // A sequence goes with its column, without being said to depend on it.
        var sequences: [ItemName: Set<ItemName>] = [:]
        for side in sides {
            for (name, item) in side.items {
                guard case .sequence(let sequence) = item.content, let owner = sequence.owner else { continue }
                sequences[owner, default: []].insert(name)
            }
        }
        var waiting = names.sorted()
        while let next = waiting.popLast() {
            let found = dependents.reduce(into: sequences[next] ?? []) { $0.formUnion($1[next] ?? []) }
            for other in found.sorted() where reasons[other] == nil {
                reasons[other] = "it needs the \(next.described)"
                waiting.append(other)
            }
        }
    }

    // MARK: Results

    /// A schema without the things that are left out.
    package func rest(of snapshot: SchemaSnapshot) -> SchemaSnapshot {
        var result = snapshot
        result.items = snapshot.items.filter { reasons[$0.key] == nil }
        for (name, item) in result.items {
            if case .extension(var content) = item.content, let version = content.version,
                availability[ServerText(name.name)]?.versions.contains(version) != true
            {
                content.version = nil
                result.items[name]?.content = .extension(content)
            }
            if isEmpty { continue }
            let isGone = { (column: String) in
                columns.contains(column)
                    && result.items[ItemName(kind: .column, schema: name.schema, name: name.name, part: column)] == nil
            }
            result.items[name]?.settings.removeAll { setting in
                setting.needed.map { reasons[$0] != nil } ?? false
                    || name.kind != .column && (setting.column.map(isGone) ?? false)
            }
            result.items[name]?.grants.removeAll { isGone($0.column) }
            if case .table(var table) = item.content, table.overrides.keys.contains(where: { isGone($0.text) }) {
                table.overrides = table.overrides.filter { !isGone($0.key.text) }
                result.items[name]?.content = .table(table)
            }
        }
        return result.indexed()
    }

    /// The extensions of a schema that only a superuser may make, and the extensions that they need, in their order.
    package func firstExtensions(of snapshot: SchemaSnapshot) -> [FirstExtension] {
        var (wanted, waiting) = (Set<ItemName>(), snapshot.items.keys.filter { isUntrusted($0) })
        while let next = waiting.popLast() {
            guard wanted.insert(next).inserted else { continue }
            waiting += (snapshot[next]?.dependencies ?? []).filter { $0.kind == .extension }
        }
        return Self.extensions(wanted, of: snapshot)
    }

    func isUntrusted(_ name: ItemName) -> Bool { name.kind == .extension && untrusted.contains(name.name) }

    static func extensions(_ names: Set<ItemName>, of snapshot: SchemaSnapshot) -> [FirstExtension] {
        snapshot.ordered(names).compactMap { name in
            guard case .extension(let item)? = snapshot[name]?.content else { return nil }
            return FirstExtension(name: name.name, schema: item.schema, version: item.version)
        }
    }

    /// A line for each thing; the parts of a thing that has a line get none.
    package var lines: [String] {
        names.sorted().compactMap { name in
            let parts: [ItemName.Kind] = [.column, .constraint, .trigger, .policy]
            let owners: [ItemName.Kind] = [.table, .view, .foreignTable, .type]
            if parts.contains(name.kind), owners.contains(where: { reasons[name.owner($0)] != nil }) { return nil }
            return "The \(name.described): \(reasons[name] ?? "")."
        }
    }
}
