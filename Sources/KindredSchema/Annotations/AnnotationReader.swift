import KindredPostgres

/// Reads the members of one annotation, and collects their errors.
struct AnnotationReader {
    private var members: [ServerText: AnnotationText.Value]
    private(set) var problems: [String] = []

    init(_ text: AnnotationText) {
        members = text.members
    }

    /// The options of a foreign key's annotation.
    mutating func foreignKeyOptions() -> ForeignKeyOptions {
        let options = ForeignKeyOptions(
            name: name("name"),
            inverse: name("inverse"),
            manyToMany: name("manyToMany"),
            deleteRule: deleteRule("deleteRule"),
            toOneDeleteRule: deleteRule("toOneDeleteRule"),
            manyToManyDeleteRule: deleteRule("manyToManyDeleteRule"),
            orderedBy: name("orderedBy"),
            minimumCount: count("minimumCount"),
            maximumCount: count("maximumCount"),
            ignore: ignoreFlag()
        )
        finish([
            "name", "inverse", "manyToMany", "deleteRule", "toOneDeleteRule", "manyToManyDeleteRule", "orderedBy",
            "minimumCount", "maximumCount", "ignore",
        ])
        return options
    }

    /// The options of a table's or view's annotation.
    mutating func tableOptions() -> TableOptions {
        let options = TableOptions(
            key: names("key"), manyToMany: helperChoice("manyToMany"), ignore: ignoreFlag(),
            optimisticLocking: name("optimisticLocking").map { $0 == "xmin" ? .xmin : .column($0) },
            relationships: flag("relationships"), group: name("group"), filter: name("filter", takes: "a condition"),
            softDelete: name("softDelete", takes: "a column"), tenant: flag("tenant"))
        finish([
            "key", "manyToMany", "ignore", "optimisticLocking", "relationships", "group", "filter", "softDelete",
            "tenant",
        ])
        return options
    }

    /// The options of a column's annotation.
    mutating func columnOptions() -> ColumnOptions {
        let options = ColumnOptions(
            ignore: ignoreFlag(), version: flag("version"), lazy: flag("lazy"), property: name("property"),
            nullElements: flag("nullElements"))
        finish(["ignore", "version", "lazy", "property", "nullElements"])
        return options
    }

    private mutating func name(_ key: String, takes what: String = "a name") -> String? {
        switch members.removeValue(forKey: key) {
        case nil: return nil
        case .string(let value) where !value.isEmpty: return value
        default:
            problems.append("\"\(key)\" must be \(what)")
            return nil
        }
    }

    private mutating func names(_ key: String) -> [String]? {
        switch members.removeValue(forKey: key) {
        case nil: return nil
        case .string(let value) where !value.isEmpty: return [value]
        case .strings(let values) where !values.isEmpty && !values.contains(""): return values
        default:
            problems.append("\"\(key)\" must be a list of names")
            return nil
        }
    }

    private mutating func count(_ key: String) -> Int? {
        switch members.removeValue(forKey: key) {
        case nil: return nil
        case .integer(let value) where value >= 0: return value
        default:
            problems.append("\"\(key)\" must be a number of objects")
            return nil
        }
    }

    private mutating func flag(_ key: String) -> Bool? {
        switch members.removeValue(forKey: key) {
        case nil: return nil
        case .bool(let value): return value
        default:
            problems.append("\"\(key)\" must be true or false")
            return nil
        }
    }

    private mutating func deleteRule(_ key: String) -> DeleteRule? {
        switch members.removeValue(forKey: key) {
        case nil: return nil
        case .string(let value):
            if let rule = DeleteRule(rawValue: value) { return rule }
            fallthrough
        default:
            let rules = DeleteRule.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            problems.append("\"\(key)\" must be one of \(rules)")
            return nil
        }
    }

    private mutating func helperChoice(_ key: String) -> SchemaOverride.HelperChoice? {
        switch members.removeValue(forKey: key) {
        case nil: return nil
        case .bool(false): return .noHelper
        case .strings(let names) where names.count == 2: return .pair(names[0], names[1])
        default:
            problems.append("\"\(key)\" must be false or the names of two foreign keys")
            return nil
        }
    }

    /// Whether the object is left out of the model; a list of the assistant's rules, `["K101"]`, says nothing of that.
    private mutating func ignoreFlag() -> Bool? {
        switch members.removeValue(forKey: "ignore") {
        case nil: return nil
        case .bool(let value): return value
        case .string(let rule) where Self.isRule(rule): return nil
        case .strings(let rules) where !rules.isEmpty && rules.allSatisfy(Self.isRule): return nil
        default:
            problems.append("\"ignore\" must be true or false, or a list of rules such as [\"K101\"]")
            return nil
        }
    }

    /// Whether a text has the form of a rule's number: K and three digits.
    private static func isRule(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 4 && bytes[0] == UInt8(ascii: "K")
            && bytes.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The options of any other object's annotation, which can only name rules for the assistant to ignore; false if it
    /// says more.
    mutating func saysOnlyWhatToIgnore() -> Bool {
        members["ignore"] != nil && ignoreFlag() == nil && members.isEmpty && problems.isEmpty
    }

    /// Reports members that no option read.
    private mutating func finish(_ known: [String]) {
        for key in members.keys.map(\.text).sorted() {
            let suggestions = NearestNames.suggestions(for: key, among: known)
            let question = NearestNames.question(suggestions)
            let names = known.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            problems.append("\"\(key)\" is unknown here\(question.isEmpty ? "; known are \(names)" : question)")
        }
    }
}
