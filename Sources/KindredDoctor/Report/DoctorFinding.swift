import HarmlessText
import KindredPostgres
import KindredSchema

/// One thing that a rule found in a database.
public struct DoctorFinding: Sendable, Hashable {
    /// A fact behind the finding.
    public struct Fact: Sendable, Hashable {
        /// Its subject, such as `rows`.
        public let name: String
        /// The number, name or query.
        public let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value.harmless
        }
    }

    /// The rule's number, such as `K101`.
    public let rule: String
    /// The rule's name, such as `unindexed-foreign-key`.
    public let name: String
    /// How much it matters.
    public let level: DoctorLevel
    /// The table or view concerned, such as `public.email`; nil if the object belongs to none.
    public let entity: String?
    /// The constraint, index, column, function or schema concerned; nil where it is the entity itself.
    public let object: String?
    /// One sentence.
    public let message: String
    /// The facts behind the finding.
    public let facts: [Fact]
    /// The statements that repair it, each to be run by itself and in this order; empty where SQL cannot.
    public let repair: [String]
    /// How much work the finding costs, to put the worst of a rule first; 0 where that is not known.
    public let weight: Double

    /// The key by which the rule is ignored for this object, in a file: `K101:public.email.email_person_id_fkey`.
    public var ignoreKey: String {
        let place = [entity, object].compactMap { $0 }.joined(separator: ".").harmless
        return place.isEmpty ? rule : "\(rule):\(place)"
    }
}
