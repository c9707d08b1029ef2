import HarmlessText
import KindredPostgres

/// The comment on a foreign key, where its name and its actions do not suffice.
struct ModelAnnotation {
    private var name: String?
    private var inverse: String?
    private var manyToMany: String?
    /// Delete rules by the annotation's members.
    var rules: [String: String] = [:]
    var orderedBy: String?
    var minimumCount: Int?
    var maximumCount: Int?

    /// Chooses a constraint's name that gives both relationships theirs, `a__b`, or annotates the names that it cannot
    /// express.
    mutating func constraint(
        holder: String?, target: String?, column: String, _ table: String, _ names: inout NameSupply
    ) -> String {
        let wanted: String
        switch (holder, target) {
        case (let holder?, let target?):
            wanted = Self.isHalf(holder) ? "\(holder)__\(target)" : ""
        case (let holder?, nil): wanted = Self.isHalf(holder) && !Self.looksMade(holder, table) ? holder : ""
        case (nil, let target?): wanted = "__\(target)"
        case (nil, nil): wanted = ""
        }
        if !wanted.isEmpty, wanted.utf8.count <= SQLIdentifier.maximumBytes, !names.isTaken(wanted) {
            return names.take(wanted)
        }
        name = holder
        inverse = target
        return names.take("\(table)_\(column)_fkey")
    }

    /// Chooses the name of a helper table's foreign key: the name of the referenced entity's relationship.
    mutating func helperConstraint(
        _ relationship: String, _ column: String, _ table: String, _ names: inout NameSupply
    ) -> String {
        if Self.isHalf(relationship), !Self.looksMade(relationship, table), !names.isTaken(relationship),
            relationship.utf8.count <= SQLIdentifier.maximumBytes
        {
            return names.take(relationship)
        }
        manyToMany = relationship
        return names.take("\(table)_\(column)_fkey")
    }

    /// Whether a constraint's name is cut behind the text where `__` follows it.
    private static func isHalf(_ text: String) -> Bool {
        var before: UInt8 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "_"), before == byte { return false }
            before = byte
        }
        return before != UInt8(ascii: "_")
    }

    /// Whether inference may think that a tool made a name; wider than inference itself, since an annotation does no
    /// harm.
    private static func looksMade(_ text: String, _ table: String) -> Bool {
        let lower = text.lowercased()
        return ["fk", "foreign", table.lowercased()].contains { lower.contains($0) }
    }

    /// The comment: the annotation, if there is anything to annotate, and the text for people.
    func comment(_ text: String?) -> String? {
        var members: [(String, JSONText)] = []
        for case let (key, value?) in [("name", name), ("inverse", inverse), ("manyToMany", manyToMany)] {
            members.append((key, .string(value)))
        }
        members += rules.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }
        if let orderedBy { members.append(("orderedBy", .string(orderedBy))) }
        if let minimumCount { members.append(("minimumCount", .integer(minimumCount))) }
        if let maximumCount { members.append(("maximumCount", .integer(maximumCount))) }
        if members.isEmpty { return text }
        let annotation = "@kindred \(JSONText.object(members).line)"
        return text.map { "\(annotation) \($0)" } ?? annotation
    }
}
