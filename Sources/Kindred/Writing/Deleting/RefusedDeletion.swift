import KindredPostgres
import KindredSchema

/// The object that a foreign key kept from being deleted, and the rows that refer to it, as far as the server's error
/// tells.
///
/// The error names the referring table and the constraint, and its detail the referenced values: `Key (id)=(7) is still
/// referenced from table "note".`, in the server's language.
struct RefusedDeletion {
    /// The entity of the object; nil if none matches the error.
    private(set) var owner: EntityRuntime?
    /// The entity whose rows refer to the object.
    private(set) var holder: QualifiedName?
    /// The owner's relationship to the rows that refer to it; nil if the key has none.
    private(set) var relationship: RelationshipRuntime?
    /// The object, in words: `kindred:/public/person?id=7`.
    private(set) var object: String

    /// - Parameter deleted: The keys of the rows to be deleted, by entity, as far as known.
    init(_ error: PostgresError, _ runtime: SchemaRuntime, among deleted: [EntityRuntime: [ObjectKey]]) {
        let referenced = ReferencedValues(error.server?.detail ?? "")
        object = ""
        if let server = error.server, let schema = server.schema, let table = server.table {
            find(
                constraint: server.constraint, of: runtime.name(ofServers: QualifiedName(schema: schema, name: table)),
                in: runtime,
                to: referenced, among: deleted)
        }
        if owner == nil, deleted.count == 1, let only = deleted.keys.first { owner = only }
        object = Self.object(of: owner, referenced, deleted)
    }

    /// Finds the foreign key that refused.
    private mutating func find(
        constraint: String?,
        of table: QualifiedName,
        in runtime: SchemaRuntime,
        to referenced: ReferencedValues?,
        among deleted: [EntityRuntime: [ObjectKey]]
    ) {
        let ofPartitions = runtime.schema.partitionKeys.first { key in
            key.constraints.contains { $0.name == constraint && $0.table == table }
        }
        if let ofPartitions {
            owner = runtime[ofPartitions.destination]
            holder = ofPartitions.source
            return
        }
        holder = table
        guard let entity = runtime[table] else { return }
        let held = entity.foreignKeys.filter { !$0.model.isByView }
        var keys = held.filter { $0.model.foreignKey == constraint }
        if keys.isEmpty {
            // A key to a partitioned table has a constraint of another name for each partition; so have repeated keys.
            keys = held.filter { key in
                referenced.map { $0.names == key.model.destinationColumns } ?? true
            }
            let known = keys.filter { deleted[$0.destination] != nil }
            if !known.isEmpty { keys = known }
        }
        let owners = Set(keys.map(\.destination))
        if owners.count == 1, let only = owners.first { owner = only }
        if keys.count == 1 { relationship = keys[0].inverse }
    }

    private static func object(
        of owner: EntityRuntime?,
        _ referenced: ReferencedValues?,
        _ deleted: [EntityRuntime: [ObjectKey]]
    ) -> String {
        if let owner, let key = referenced?.key(of: owner) { return ObjectID(owner, key).uri }
        let candidates = deleted.filter { owner == nil || $0.key == owner }.sorted { $0.key < $1.key }
        let uris = candidates.flatMap { entity, keys in
            keys.prefix(4).map { ObjectID(entity, $0).uri }
        }
        let count = candidates.reduce(0) { $0 + $1.value.count }
        if count == 1 { return uris[0] }
        let entity = owner.map { " of \($0.name)" } ?? ""
        guard count > 0 else {
            return referenced.map { "The object\(entity) whose \($0.names.joined(separator: ", ")) others refer to" }
                ?? "An object\(entity) that the server does not name"
        }
        let shown = uris.prefix(3)
        let rest = count > shown.count ? " and \(count - shown.count) more" : ""
        return "One of the objects\(entity) (\(shown.joined(separator: ", "))\(rest))"
    }
}

extension RefusedDeletion {
    /// Text for one unknown object among several.
    static func oneOf(_ keys: [ObjectKey], of entity: EntityRuntime) -> String {
        let shown = keys.prefix(3).map { ObjectID(entity, $0).uri }
        if keys.count == 1 { return shown[0] }
        let rest = keys.count > shown.count ? " and \(keys.count - shown.count) more" : ""
        return "One of the objects of \(entity.name) (\(shown.joined(separator: ", "))\(rest))"
    }
}

/// The columns and values of a foreign key's refusal, as text.
private struct ReferencedValues {
    var names: [String]
    private let texts: [String]

    /// Parses `… (a, b)=(1, x) …`; nil for anything else, such as values that the role may not see.
    init?(_ detail: String) {
        guard let middle = detail.firstRange(of: ")=("), let start = detail[..<middle.lowerBound].lastIndex(of: "("),
            let end = detail[middle.upperBound...].lastIndex(of: ")")
        else { return nil }
        names = detail[detail.index(after: start)..<middle.lowerBound].split(separator: ", ").map(RefusedRow.unquoted)
        let values = detail[middle.upperBound..<end]
        texts =
            names.count == 1
            ? [String(values)] : values.split(separator: ", ", omittingEmptySubsequences: false).map(String.init)
        if texts.count != names.count { return nil }
    }

    /// The key with these values; nil if they are of other columns.
    func key(of entity: EntityRuntime) -> ObjectKey? {
        guard !entity.key.isEmpty, Set(texts: names) == Set(texts: entity.entity.primaryKey) else { return nil }
        let values = entity.entity.primaryKey.enumerated().compactMap { position, name in
            names.firstIndex(of: name).flatMap { place in
                try? PostgresValue(text: texts[place], type: entity.entity.attributes[entity.key[position]].baseType)
            }
        }
        return values.count == entity.referencedKey.count ? entity.identity(ObjectKey(values)) : nil
    }
}
