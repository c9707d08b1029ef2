import KindredPostgres

extension SchemaBuilder {
    /// The options of a foreign key and its duplicates.
    struct KeyAnnotation {
        struct Name {
            var name: String
            var location: String

            /// Whether the program itself gives the name.
            var isOverride: Bool { location.contains(Annotations.override) }
        }

        struct Setting<Value> {
            var value: Value
            var location: String
        }

        var names: [Name] = []
        var inverses: [Name] = []
        var manyToMany: [Name] = []
        var deleteRule: Setting<DeleteRule>?
        var toOneDeleteRule: Setting<DeleteRule>?
        var manyToManyDeleteRule: Setting<DeleteRule>?
        var orderedBy: Setting<String>?
        var minimumCount: Setting<Int>?
        var maximumCount: Setting<Int>?

        /// Merges one constraint's options; returns contradictions to earlier options.
        mutating func add(_ written: Annotations.Written<ForeignKeyOptions>) -> [String] {
            let (options, location) = (written.options, written.location)
            if let name = options.name { names.append(Name(name: name, location: location)) }
            if let name = options.inverse { inverses.append(Name(name: name, location: location)) }
            if let name = options.manyToMany { manyToMany.append(Name(name: name, location: location)) }
            var contradictions: [String] = []
            func merge<Value: Equatable>(_ value: Value?, into setting: inout Setting<Value>?, named member: String) {
                guard let value else { return }
                if let known = setting, known.value != value {
                    contradictions.append("\"\(member)\" contradicts \(known.location), whose key is the same")
                }
                setting = Setting(value: value, location: location)
            }
            merge(options.deleteRule, into: &deleteRule, named: "deleteRule")
            merge(options.toOneDeleteRule, into: &toOneDeleteRule, named: "toOneDeleteRule")
            merge(options.manyToManyDeleteRule, into: &manyToManyDeleteRule, named: "manyToManyDeleteRule")
            merge(options.orderedBy, into: &orderedBy, named: "orderedBy")
            merge(options.minimumCount, into: &minimumCount, named: "minimumCount")
            merge(options.maximumCount, into: &maximumCount, named: "maximumCount")
            return contradictions
        }
    }
}
