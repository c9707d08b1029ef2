import KindredPostgres

/// The loaded relationships of an object, by slot: few, so that a list is faster and smaller than a dictionary.
package struct LoadedRelationships: Sendable {
    private struct Entry {
        // In this order the slot fills padding.
        var loaded: LoadedRelationship
        let slot: Int32
    }

    private var entries: [Entry] = []

    package init() {}

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    package subscript(slot: Int) -> LoadedRelationship? {
        get {
            if entries.isEmpty { return nil }
            return entries.first { $0.slot == slot }?.loaded
        }
        set {
            let place = entries.firstIndex { $0.slot == slot }
            switch (place, newValue) {
            case (let place?, let loaded?): entries[place].loaded = loaded
            case (let place?, nil): entries.remove(at: place)
            case (nil, let loaded?):
                // Reserves two: a program that follows one relationship often follows another.
                if entries.isEmpty { entries.reserveCapacity(2) }
                entries.append(Entry(loaded: loaded, slot: Int32(slot)))
            case (nil, nil): break
            }
        }
    }

    /// Adopts other relationships, except answers of transactions that were rolled back.
    mutating func adopt(_ others: LoadedRelationships) {
        for entry in others.entries where !entry.loaded.batch.isUndone { self[Int(entry.slot)] = entry.loaded }
    }
}

/// A loaded relationship.
///
/// Holds rows, not objects, so that a graph with cycles cannot keep itself alive. Objects are made from these rows on
/// access, one per row and context.
package enum LoadedRelationship: Sendable {
    /// A to-one relationship whose foreign key this side holds.
    case one(LoadedOne)
    /// Rows that refer to the owner, or that a helper's rows pair with it.
    case many(LoadedMembers)

    /// The answer.
    var batch: Answer {
        switch self {
        case .one(let one): one.batch
        case .many(let members): members.batch
        }
    }
}

/// The row that a foreign key leads to.
package struct LoadedOne: Sendable {
    /// The foreign key's value that led to the row.
    package let foreignKey: ObjectKey
    let member: Member?
    /// The answer that has the member.
    let batch: Answer
}

extension Answer {
    /// The relationship of an owner that was queried by a key; nil for other owners.
    package func loaded(_ relationship: RelationshipRuntime, of key: ObjectKey) -> LoadedRelationship? {
        guard let members = members(of: key) else { return nil }
        guard relationship.holdsForeignKey else { return .many(members) }
        return .one(LoadedOne(foreignKey: key, member: members.first, batch: self))
    }
}
