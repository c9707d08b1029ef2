import KindredPostgres

/// Finds the older entity and property of each entity and property of a newer model.
///
/// The renaming identifier decides, then the name, then Xcode's own identifier. Nothing is matched twice.
struct ModelMatching {
    /// The older name of each entity that there was.
    private(set) var entities: [String: String] = [:]
    private var properties: [String: [String: String]] = [:]

    init(from old: CoreDataModel, to new: CoreDataModel) {
        entities = Self.match(
            new.entities.map { ($0.name, $0.identity) }, with: old.entities.map { ($0.name, $0.identity) })
        let oldEntities = Dictionary(old.entities.map { ($0.name, $0) }) { first, _ in first }
        for entity in new.entities {
            guard let name = entities[entity.name], let before = oldEntities[name] else { continue }
            properties[entity.name] = Self.match(Self.properties(of: entity), with: Self.properties(of: before))
        }
    }

    private typealias Part = (name: String, identity: CoreDataModel.Identity)

    private static func properties(of entity: CoreDataModel.Entity) -> [Part] {
        entity.attributes.map { ($0.name, $0.identity) } + entity.relationships.map { ($0.name, $0.identity) }
    }

    private static func match(_ new: [Part], with old: [Part]) -> [String: String] {
        var free = old
        var found: [String: String] = [:]
        func take(_ name: String, where isSame: (Part) -> Bool) {
            guard found[name] == nil, let place = free.firstIndex(where: isSame) else { return }
            found[name] = free.remove(at: place).name
        }
        for part in new {
            guard let identifier = part.identity.renamingIdentifier else { continue }
            take(part.name) { $0.identity.renamingIdentifier == identifier }
            take(part.name) { $0.name == identifier }
        }
        for part in new { take(part.name) { $0.name == part.name } }
        for part in new {
            guard let identifier = part.identity.elementID else { continue }
            take(part.name) { $0.identity.elementID == identifier }
        }
        return found
    }

    /// The origin in the older model; nil if it was not there.
    func before(_ origin: PlanOrigin) -> PlanOrigin? {
        switch origin {
        case .key, .discriminator: return origin
        case .entity(let name): return entities[name].map { .entity($0) }
        case .helper(let entity, let relationship):
            return property(entity, relationship).map { .helper(entity: $0.entity, relationship: $0.name) }
        case .attribute(let entity, let name):
            return property(entity, name).map { .attribute(entity: $0.entity, name: $0.name) }
        case .reference(let entity, let name):
            return property(entity, name).map { .reference(entity: $0.entity, name: $0.name) }
        case .position(let entity, let name):
            return property(entity, name).map { .position(entity: $0.entity, name: $0.name) }
        }
    }

    private func property(_ entity: String, _ name: String) -> (entity: String, name: String)? {
        guard let before = entities[entity], let names = properties[entity] else { return nil }
        // The other end of a relationship that is its own inverse.
        if names[name] == nil, name.hasSuffix("_inverse") {
            return names[String(name.dropLast("_inverse".count))].map { (before, "\($0)_inverse") }
        }
        return names[name].map { (before, $0) }
    }
}
