import KindredDDL
import KindredPostgres
import KindredSchema

/// K206 to K208: conflicts between the names of relationships.
enum NameRules {
    /// The relationships between tables; views have no annotations of their own for them.
    private static func own(_ entity: Entity) -> [Relationship] {
        entity.relationships.filter { !$0.isByView }
    }

    /// Whether the relationship's name was chosen: in an annotation, or by naming the constraint.
    private static func isChosen(_ relationship: Relationship) -> Bool {
        relationship.explanation.contains { candidate in
            guard candidate.isGiven else { return false }
            return switch candidate.rule {
            case .annotation, .pair: true
            case .constraintName: candidate.name == relationship.name
            default: false
            }
        }
    }

    /// A relationship's name and the key or helper that makes it.
    private static func described(_ relationship: Relationship) -> String {
        "\(relationship.name) (\(relationship.foreignKey ?? relationship.helper?.entity.name ?? ""))"
    }

    static func checkContested(_ run: inout RuleRun) {
        let examination = run.examination
        let fixedNames = FixedNames(examination)
        for entity in examination.schema.entities {
            guard let oid = examination.oid(of: entity.name), let relation = examination.relations[oid] else {
                continue
            }
            var claims: [ServerText: [Relationship]] = [:]
            for relationship in own(entity) {
                let contested = relationship.explanation.filter {
                    if case .contested = $0.outcome { return true }
                    return false
                }
                for name in Set(texts: contested.map(\.name)) { claims[name, default: []].append(relationship) }
            }
            for (claimed, claimants) in claims where claimants.count > 1 && !claimants.allSatisfy(isChosen) {
                let name = claimed.text
                let words = claimants.map(described)
                // One of the claimants may have it by another rule.
                let owner = entity.relationship(named: name)
                let outcome = owner.map { "of which only \(described($0)) has it" } ?? "so that none has it"
                run.report(
                    relation, object: name,
                    subjects: claimants.flatMap { fixedNames.constraints(of: $0).map { .constraint($0.oid) } },
                    "\(claimants.count) relationships of \(relation.qualifiedName) claim the name \(name), \(outcome)",
                    facts: [("relationships", words.joined(separator: ", "))],
                    repair: { try fixedNames.statements(for: claimants) })
            }
        }
    }

    static func checkGenerated(_ run: inout RuleRun) {
        let examination = run.examination
        let fixedNames = FixedNames(examination)
        for entity in examination.schema.entities {
            guard let oid = examination.oid(of: entity.name), let relation = examination.relations[oid] else {
                continue
            }
            for relationship in own(entity)
            where !relationship.explanation.contains(where: { $0.isGiven && $0.rule != .generated }) {
                let lost = relationship.explanation.filter { !$0.isGiven }.map { "\($0)" }
                run.report(
                    relation, object: relationship.name,
                    subjects: fixedNames.constraints(of: relationship).map { .constraint($0.oid) },
                    "The relationship of \(relation.qualifiedName) to \(relationship.destination) has no name but the "
                        + "generated \(relationship.name)",
                    facts: lost.isEmpty ? [] : [("names it did not get", lost.joined(separator: "; "))],
                    repair: { try fixedNames.statements(for: [relationship]) })
            }
        }
    }

    static func checkHelpers(_ run: inout RuleRun) {
        let examination = run.examination
        for diagnostic in examination.schema.diagnostics where diagnostic.code == .ambiguousHelper {
            guard let oid = examination.oid(of: diagnostic.entity), let relation = examination.relations[oid] else {
                continue
            }
            run.report(
                relation,
                subjects: diagnostic.constraints.compactMap { name in
                    examination.foreignKey(named: name, of: oid).map { .constraint($0.oid) }
                },
                "More than one pair of the foreign keys of \(relation.qualifiedName) could make a many-to-many relationship, "
                    + "so that none does",
                facts: [("foreign keys", diagnostic.constraints.joined(separator: ", "))],
                repair: {
                    let comment = examination.facts.comments[.relation(oid)]
                    guard let text = DoctorAnnotation.adding(["manyToMany": false], to: comment) else { return [] }
                    return ["COMMENT ON TABLE \(try RepairText.name(relation)) IS \(DDL.literal(text))"]
                })
        }
    }
}

/// Annotations that keep the names which the relationships of a foreign key have: one comment for each key, the same for
/// whichever finding asks for it.
struct FixedNames {
    private let examination: Examination
    private let duplicates: DuplicateForeignKeys
    /// The text of the annotation of a key, by the key's OID.
    private var members: [UInt32: [String: String]] = [:]
    /// The keys whose annotations would clash, as they give one name to two relationships of an entity.
    private var clashing: Set<UInt32> = []

    init(_ examination: Examination) {
        self.examination = examination
        duplicates = DuplicateForeignKeys(examination)
        for entity in examination.schema.entities {
            var users: [ServerText: Set<UInt32>] = [:]
            for relationship in entity.relationships where !relationship.isByView {
                guard let (key, member) = place(of: relationship, in: examination) else { continue }
                let name = Self.name(for: relationship, of: entity)
                if members[key.oid]?[member] == nil { members[key.oid, default: [:]][member] = name }
                users[name, default: []].insert(key.oid)
            }
            for keys in users.values where keys.count > 1 { clashing.formUnion(keys) }
        }
    }

    /// The constraint whose annotation holds a relationship's name, and the annotation's member; of equal keys, the key
    /// that K201 keeps.
    private func place(
        of relationship: Relationship, in examination: Examination
    ) -> (key: DoctorCatalog.ForeignKey, member: String)? {
        func key(_ name: String?, _ table: QualifiedName) -> DoctorCatalog.ForeignKey? {
            guard let name, let oid = examination.oid(of: table) else { return nil }
            return examination.foreignKey(named: name, of: oid).map(duplicates.remaining)
        }
        if let helper = relationship.helper {
            return key(helper.sourceForeignKey, helper.entity).map { ($0, "manyToMany") }
        }
        let holder = relationship.holdsForeignKey ? relationship.source : relationship.destination
        return key(relationship.foreignKey, holder).map { ($0, relationship.holdsForeignKey ? "name" : "inverse") }
    }

    func constraints(of relationship: Relationship) -> [DoctorCatalog.ForeignKey] {
        place(of: relationship, in: examination).map { [$0.key] } ?? []
    }

    /// The relationship's name; one made of its columns where it has a generated one only.
    private static func name(for relationship: Relationship, of entity: Entity) -> String {
        if relationship.explanation.contains(where: { $0.isGiven && $0.rule != .generated }) {
            return relationship.name
        }
        let own = relationship.holdsForeignKey ? relationship.columns : relationship.destinationColumns
        let wanted =
            relationship.isToMany
            ? "\(relationship.destination.name)_by_\(own.joined(separator: "_"))"
            : "\(own.joined(separator: "_"))_\(relationship.destination.name)"
        for number in 1...100 {
            let name = number == 1 ? wanted : "\(wanted)_\(number)"
            if entity.attribute(named: name) == nil, entity.relationship(named: name) == nil { return name }
        }
        return relationship.name
    }

    /// A COMMENT for each constraint concerned, none where one of them would clash; a self-reference's has both names.
    func statements(for relationships: [Relationship]) throws -> [String] {
        var statements: [String] = []
        var seen: Set<UInt32> = []
        if relationships.contains(where: { constraints(of: $0).contains { clashing.contains($0.oid) } }) { return [] }
        for relationship in relationships {
            for key in constraints(of: relationship) where seen.insert(key.oid).inserted {
                guard let relation = examination.relations[key.relation], let wanted = members[key.oid] else {
                    continue
                }
                let comment = duplicates.comment(on: key)
                let written = comment.flatMap(DoctorAnnotation.init)?.members ?? [:]
                let additions = wanted.filter { written[$0.key] == nil }
                guard !additions.isEmpty, let text = DoctorAnnotation.adding(additions, to: comment) else { continue }
                statements.append(try RepairText.comment(on: key.name, of: relation, text))
            }
        }
        return statements
    }
}
