import KindredPostgres
import KindredSchema

/// The attribute that tells the versions of an entity's rows apart, and how a write makes the next one.
struct VersionColumn: Sendable {
    /// Its place among the entity's attributes.
    let position: Int
    /// What a new row gets where the database has no default; nil where it has, or makes the version itself.
    let initialValue: PostgresValue?
    /// The SQL of the next version from the old one, `old` standing for it; nil where the server counts by itself.
    private let next: String?

    init?(_ entity: Entity) {
        switch entity.optimisticLocking {
        case nil: return nil
        case .xmin?:
            guard let position = entity.attributes.firstIndex(where: \.isHidden) else { return nil }
            self.position = position
            initialValue = nil
            next = nil
        case .column(let name)?:
            guard let position = entity.attributeIndex(of: name) else { return nil }
            self.position = position
            let attribute = entity.attributes[position]
            switch attribute.baseType {
            case .timestamp, .timestamptz:
                initialValue = nil
                let type = attribute.baseType == .timestamp ? "timestamp" : "timestamptz"
                // Later than before in any case, also where the column keeps few digits or the clock was set back.
                let step = Self.step(attribute.typeName)
                next = "greatest(clock_timestamp()::\(type), old + interval '\(step) seconds')"
            default:
                initialValue = attribute.hasDefault ? nil : .integer(1)
                next = "old + 1"
            }
        }
    }

    /// `"version" = "version" + 1`, to be appended to a SET list; nil where the server counts by itself.
    func assignment(_ name: String, alias: String? = nil) -> String? {
        next.map { "\(name) = \($0.replacing("old", with: alias.map { "\($0)." + name } ?? name))" }
    }

    /// The least difference of two values of a timestamp type, in seconds: `timestamp(3)` has 0.001.
    private static func step(_ typeName: String) -> String {
        guard let open = typeName.firstIndex(of: "("),
            let digits = typeName[typeName.index(after: open)...].first?.wholeNumberValue
        else { return "0.000001" }
        return digits == 0 ? "1" : "0." + String(repeating: "0", count: digits - 1) + "1"
    }
}

extension EntityRuntime {
    /// Refuses a value for the version of a row that is stored: writes count it.
    func requireNoVersion(_ column: Int, key: String) throws {
        guard column == version?.position else { return }
        throw KindredError(
            .readOnly,
            "\(name).\(entity.attributes[column].name) is the version of its row: every write counts it, nobody sets it",
            entity: name.description,
            key: key
        )
    }
}
