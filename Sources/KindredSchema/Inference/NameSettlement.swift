/// Settles which of an entity's relationships gets which name.
///
/// Knows nothing of tables: attributes' names and each relationship's candidates in, an outcome for each candidate out.
struct NameSettlement {
    /// A name that a rule offers to a relationship.
    struct Candidate {
        var name: String
        var rule: NameExplanation.Rule
        /// An annotation that speaks of another end too, and so may lose here without being wrong.
        var isTentative = false
    }

    /// What became of a candidate; relationships are named by their places among the entity's.
    enum Outcome: Equatable {
        /// It was given under this name, which for a generated one may carry a number.
        case given(String)
        case attribute
        case taken(by: Int)
        case contested(with: [Int])
        case reserved(for: Int)
    }

    private enum Claim {
        case single(Int)
        case several([Int])
    }

    private let candidates: [[Candidate]]
    private let attributes: Set<String>
    private(set) var outcomes: [[Outcome]]
    /// Every name that was given, and the relationship that has it.
    private var owners: [String: Int] = [:]
    /// The generated names before any number is appended, each with the first that has it.
    private var generated: [String: Int] = [:]

    /// Settles the names of one entity.
    ///
    /// - Parameters:
    ///   - candidates: Each relationship's candidates, in any order of rules. Of two relationships with the same
    ///     generated name, the one that comes first keeps it.
    ///   - attributes: Names that are never given.
    init(candidates: [[Candidate]], attributes: Set<String>) {
        self.candidates = candidates
        self.attributes = attributes
        outcomes = candidates.map { [Outcome](repeating: .attribute, count: $0.count) }
        for (relationship, offered) in candidates.enumerated() {
            for candidate in offered where candidate.rule == .generated && generated[candidate.name] == nil {
                generated[candidate.name] = relationship
            }
        }
        settle { $0.rule == .annotation && !$0.isTentative }
        settle { $0.rule == .annotation && $0.isTentative }
        for rule in NameExplanation.Rule.allCases where rule > .annotation && rule < .generated {
            settle { $0.rule == rule }
        }
        giveGeneratedNames()
    }

    /// Settles one level: what nobody else has or claims is given.
    private mutating func settle(_ isOnLevel: (Candidate) -> Bool) {
        var claims: [String: Claim] = [:]
        forEachCandidate(isOnLevel) { settlement, relationship, place, candidate in
            if let outcome = settlement.obstacle(to: candidate, of: relationship) {
                settlement.outcomes[relationship][place] = outcome
                return
            }
            switch claims[candidate.name] {
            case nil, .single(relationship): claims[candidate.name] = .single(relationship)
            case .single(let other): claims[candidate.name] = .several([other, relationship])
            case .several(let others):
                if !others.contains(relationship) { claims[candidate.name] = .several(others + [relationship]) }
            }
        }
        if claims.isEmpty { return }
        forEachCandidate(isOnLevel) { settlement, relationship, place, candidate in
            switch claims[candidate.name] {
            case .single(relationship):
                settlement.outcomes[relationship][place] = .given(candidate.name)
                settlement.owners[candidate.name] = relationship
            case .several(let others):
                settlement.outcomes[relationship][place] = .contested(with: others.filter { $0 != relationship })
            default: break
            }
        }
    }

    private mutating func forEachCandidate(
        _ isOnLevel: (Candidate) -> Bool,
        _ body: (inout NameSettlement, Int, Int, Candidate) -> Void
    ) {
        for relationship in candidates.indices {
            for place in candidates[relationship].indices where isOnLevel(candidates[relationship][place]) {
                body(&self, relationship, place, candidates[relationship][place])
            }
        }
    }

    /// What keeps a name from being given at all, whoever else may claim it.
    private func obstacle(to candidate: Candidate, of relationship: Int) -> Outcome? {
        if attributes.contains(candidate.name) { return .attribute }
        if let owner = owners[candidate.name] {
            return owner == relationship ? .given(candidate.name) : .taken(by: owner)
        }
        // Generated names are permanent: no table or key that is added later may take one. Only an annotation may.
        if candidate.rule > .annotation, let owner = generated[candidate.name], owner != relationship {
            return .reserved(for: owner)
        }
        return nil
    }

    /// Gives every generated name, with a number where the plain one is taken.
    private mutating func giveGeneratedNames() {
        var numbered: [(relationship: Int, place: Int, name: String)] = []
        forEachCandidate({ $0.rule == .generated }) { settlement, relationship, place, candidate in
            let name = candidate.name
            let owner = settlement.owners[name] ?? relationship
            if owner == relationship && !settlement.attributes.contains(name) {
                settlement.owners[name] = relationship
                settlement.outcomes[relationship][place] = .given(name)
            } else {
                numbered.append((relationship, place, name))
            }
        }
        for (relationship, place, name) in numbered {
            var number = 2
            while true {
                let name = "\(name)_\(number)"
                if owners[name] == nil, !attributes.contains(name) {
                    owners[name] = relationship
                    outcomes[relationship][place] = .given(name)
                    break
                }
                number += 1
            }
        }
    }
}
