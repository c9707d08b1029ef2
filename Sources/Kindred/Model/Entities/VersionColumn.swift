import KindredPostgres
import KindredSchema

/// The version column of an entity's rows, and how a write computes the next version.
struct VersionColumn: Sendable {
    /// Its position among the entity's attributes.
    let position: Int
    /// A new row's version if the database has no default; nil if it has, or assigns the version itself.
    let initialValue: PostgresValue?
    /// The SQL of the next version, with `old` for the current one; nil if the server assigns it.
    private let next: String?

    init?(_ entity: Entity) {
        switch entity.optimisticLocking {
        case nil: return nil
        case .xmin?:
            guard let position = entity.attributeIndex(of: Attribute.xmin.name) else { return nil }
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
                // Always later than before, even if the column stores few digits or the clock was set back.
                let step = Self.step(attribute.typeName)
                next = "greatest(clock_timestamp()::\(type), old + interval '\(step) seconds')"
            default:
                initialValue = attribute.hasDefault ? nil : .integer(1)
                next = "old + 1"
            }
        }
    }

    /// `"version" = "version" + 1`, to be appended to a SET list; nil if the server assigns the version.
    func assignment(_ name: String, alias: String? = nil) -> String? {
        next.map { "\(name) = \($0.replacing("old", with: alias.map { "\($0)." + name } ?? name))" }
    }

    /// The smallest difference of two values of a timestamp type, in seconds: `timestamp(3)` has 0.001.
    private static func step(_ typeName: String) -> String {
        guard let open = typeName.firstIndex(of: "("),
            let digits = typeName[typeName.index(after: open)...].first?.wholeNumberValue
        else { return "0.000001" }
        return digits == 0 ? "1" : "0." + String(repeating: "0", count: digits - 1) + "1"
    }
}

extension EntityRuntime {
    /// Throws for a value of a stored row's version, which only writes increment.
    func requireNoVersion(_ column: Int, key: String) throws {
        guard column == version?.position else { return }
        throw KindredError(
            .readOnly,
            "\(name).\(entity.attributes[column].name) is the row's version: writes increment it, and it cannot be set",
            entity: name.description,
            key: key
        )
    }
}
