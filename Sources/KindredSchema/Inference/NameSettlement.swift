import KindredPostgres

/// Assigns names to an entity's relationships.
///
/// Independent of tables: its input are the attributes' names and each relationship's candidates, its output an outcome
/// for each candidate.
struct NameSettlement {
    /// A name that a rule offers to a relationship.
    struct Candidate {
        var name: String
        var rule: NameExplanation.Rule
        /// Whether it is assigned after the others of its rule: an annotation that names another end too, and may lose here
        /// without an error, or the table's name for a many-to-many relationship.
        var givesWay = false
        /// Whether the owner of another table has written it: assigned last, and only if no other relationship has the name.
        var isOfOtherOwner = false
    }

    /// The outcome of a candidate; relationships are identified by their indexes.
    enum Outcome: Equatable {
        /// Assigned as this name; a generated name may have a number appended.
        case given(String)
        case attribute
        case taken(by: Int)
        case contested(with: [Int])
        case reserved(for: Int)
    }

    /// A candidate whose name is a number.
    private struct Slot {
        var relationship: Int
        var place: Int
        var name: Int
        var level: Int
        var phase: Int
    }

    /// The state of a name.
    private struct State {
        var isAttribute: Bool
        /// The relationship to which the name is assigned.
        var owner: Int?
        /// The relationship for which the name is reserved: the first relationship with this generated name before a
        /// number is appended, or the far end of a foreign key from a table to itself, for its number.
        var generatedFor: Int?
        /// The relationships that claim it on the current level.
        var claims: [Int] = []
        /// The relationships that claimed it on one level, so that none got it there.
        ///
        /// On a lower level only such a relationship may get it: any other relationship would take over a key that
        /// programs have used for these.
        var contestants: [Int] = []
    }

    private let candidates: [[Candidate]]
    private let attributes: [ServerText: Int]
    private(set) var outcomes: [[Outcome]]
    private var slots: [Slot] = []
    // Names are numbered, so that each is hashed only once.
    private var numbers: [ServerText: Int] = [:]
    private var states: [State] = []

    /// Assigns the names of one entity.
    ///
    /// - Parameters:
    ///   - candidates: Each relationship's candidates, in any order of rules. The first of two relationships with the
    ///     same generated name keeps it.
    ///   - phases: A number for each relationship, 0 for all if it is empty: relationships with lower numbers get all
    ///     their names first, and the names that they claim in vain are not given to relationships with higher numbers.
    ///   - attributes: Names that are never assigned, as keys.
    init(candidates: [[Candidate]], phases: [Int] = [], attributes: [ServerText: Int]) {
        self.candidates = candidates
        self.attributes = attributes
        outcomes = candidates.map { [Outcome](repeating: .attribute, count: $0.count) }
        let count = candidates.reduce(0) { $0 + $1.count }
        slots.reserveCapacity(count)
        numbers.reserveCapacity(count)
        for (relationship, offered) in candidates.enumerated() {
            let phase = phases.isEmpty ? 0 : phases[relationship]
            for (place, candidate) in offered.enumerated() where !candidate.isOfOtherOwner {
                let name = number(of: candidate.name)
                let level = 2 * candidate.rule.rawValue + (candidate.givesWay ? 1 : 0)
                slots.append(Slot(relationship: relationship, place: place, name: name, level: level, phase: phase))
            }
        }
        let all = slots
        for phase in phases.isEmpty ? [0] : Set(phases).sorted() {
            slots = all.filter { $0.phase == phase }
            settle(phase)
        }
        giveNamesOfOtherOwners()
    }

    /// Assigns the names that owners of other tables have written, as far as they are still free.
    private mutating func giveNamesOfOtherOwners() {
        slots = []
        for (relationship, offered) in candidates.enumerated() {
            for (place, candidate) in offered.enumerated() where candidate.isOfOtherOwner {
                let name = number(of: candidate.name)
                slots.append(Slot(relationship: relationship, place: place, name: name, level: 0, phase: 0))
            }
        }
        if !slots.isEmpty { settle(level: 0, isAnnotated: false) }
    }

    private mutating func settle(_ phase: Int) {
        for slot in slots where slot.level == 2 * NameExplanation.Rule.generated.rawValue {
            if states[slot.name].generatedFor == nil { states[slot.name].generatedFor = slot.relationship }
        }
        keepSecondNames()
        for rule in NameExplanation.Rule.allCases where rule < .generated {
            for level in [2 * rule.rawValue, 2 * rule.rawValue + 1] {
                settle(level: level, isAnnotated: rule == .annotation)
            }
        }
        giveGeneratedNames()
    }

    /// Reserves `c_2` for the second end of a table's foreign key `c` to itself, even if another constraint has that name.
    private mutating func keepSecondNames() {
        var kept: Set<Int> = []
        for slot in slots where slot.level == 2 * NameExplanation.Rule.generated.rawValue {
            guard let first = states[slot.name].generatedFor, first != slot.relationship else { continue }
            let second = number(of: candidates[slot.relationship][slot.place].name + "_2")
            if kept.insert(second).inserted, states[second].owner == nil {
                states[second].generatedFor = slot.relationship
            }
        }
    }

    private mutating func number(of name: String) -> Int {
        if let known = numbers[name] { return known }
        numbers[name] = states.count
        states.append(State(isAttribute: attributes[name] != nil))
        return states.count - 1
    }

    /// Assigns the names of one level that no other relationship has or claims.
    private mutating func settle(level: Int, isAnnotated: Bool) {
        var claimed: [Slot] = []
        for slot in slots where slot.level == level {
            if let outcome = obstacle(to: slot, isAnnotated: isAnnotated) {
                outcomes[slot.relationship][slot.place] = outcome
                continue
            }
            claimed.append(slot)
            if !states[slot.name].claims.contains(slot.relationship) {
                states[slot.name].claims.append(slot.relationship)
            }
        }
        for slot in claimed {
            let claims = states[slot.name].claims
            if claims.count == 1 {
                outcomes[slot.relationship][slot.place] = .given(candidates[slot.relationship][slot.place].name)
                states[slot.name].owner = slot.relationship
            } else {
                outcomes[slot.relationship][slot.place] = .contested(with: claims.filter { $0 != slot.relationship })
                if states[slot.name].contestants.isEmpty { states[slot.name].contestants = claims }
            }
        }
        for slot in claimed { states[slot.name].claims.removeAll() }
    }

    /// The reason why a name cannot be assigned, regardless of other claims; nil if it can.
    private func obstacle(to slot: Slot, isAnnotated: Bool) -> Outcome? {
        let state = states[slot.name]
        if state.isAttribute { return .attribute }
        if let owner = state.owner {
            guard owner == slot.relationship else { return .taken(by: owner) }
            return .given(candidates[slot.relationship][slot.place].name)
        }
        if !state.contestants.isEmpty, !state.contestants.contains(slot.relationship) {
            return .contested(with: state.contestants)
        }
        // Generated names are permanent: only an annotation may take one, not a table or key that is added later.
        if !isAnnotated, let owner = state.generatedFor, owner != slot.relationship { return .reserved(for: owner) }
        return nil
    }

    /// Assigns every generated name, with a number if the plain one is taken.
    private mutating func giveGeneratedNames() {
        var numbered: [Slot] = []
        for slot in slots where slot.level == 2 * NameExplanation.Rule.generated.rawValue {
            let state = states[slot.name]
            guard !state.isAttribute, state.owner == nil || state.owner == slot.relationship,
                state.generatedFor == slot.relationship
            else {
                numbered.append(slot)
                continue
            }
            states[slot.name].owner = slot.relationship
            outcomes[slot.relationship][slot.place] = .given(candidates[slot.relationship][slot.place].name)
        }
        for slot in numbered {
            var suffix = 2
            while true {
                let name = "\(candidates[slot.relationship][slot.place].name)_\(suffix)"
                let number = number(of: name)
                let isKept = states[number].generatedFor.map { $0 != slot.relationship } ?? false
                if !states[number].isAttribute, states[number].owner == nil, !isKept {
                    states[number].owner = slot.relationship
                    outcomes[slot.relationship][slot.place] = .given(name)
                    break
                }
                suffix += 1
            }
        }
    }
}
