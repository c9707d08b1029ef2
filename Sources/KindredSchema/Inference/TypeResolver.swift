import KindredPostgres

/// Resolves domains and arrays of a column's type.
struct TypeResolver {
    /// A type without its domains.
    struct Resolved {
        var base: UInt32
        var modifier: Int32
        var element: UInt32?
        var labels: [String]?
        var domain: QualifiedName?
        var isNotNull = false
        var hasDefault = false
    }

    private let catalog: Catalog
    /// The client's registry of types that are not built in.
    let registry: TypeRegistry?
    private var rows: [UInt32: Int] = [:]
    private var labels: [UInt32: [String]] = [:]
    /// The operators of types that have their own.
    private var operators: [UInt32: TypeOperators] = [:]

    init(_ catalog: Catalog, _ registry: TypeRegistry?) {
        self.catalog = catalog
        self.registry = registry
        for (index, row) in catalog.types.enumerated() { rows[row.oid] = index }
        var sorted: [UInt32: [Catalog.EnumLabel]] = [:]
        for label in catalog.enumLabels { sorted[label.type, default: []].append(label) }
        labels = sorted.mapValues { labels in
            labels.sorted { $0.position < $1.position }.map(\.label)
        }
        for (type, found) in Dictionary(grouping: catalog.operators, by: \.left) {
            guard let row = rows[type] else { continue }
            let sorted = found.sorted { ($0.schema, $0.name, $0.right) < ($1.schema, $1.name, $1.right) }
            operators[type] = TypeOperators(catalog.types[row], sorted)
        }
    }

    /// An operator by its number, as SQL writes it; nil for one of `pg_catalog`.
    func operation(_ oid: UInt32) -> String? {
        guard let row = catalog.operators.first(where: { $0.oid == oid && oid != 0 }) else { return nil }
        return try? QualifiedName(catalog: row.schema, row.name).quotedOperator
    }

    /// Resolves a type with its modifier.
    func resolve(_ type: UInt32, modifier: Int32) -> Resolved {
        var resolved = Resolved(base: type, modifier: modifier)
        if !rows.isEmpty { followDomains(&resolved) }
        let element = elementType(of: resolved.base)
        if var element {
            if !rows.isEmpty {
                var below = Resolved(base: element, modifier: resolved.modifier)
                followDomains(&below)
                element = below.base
                resolved.modifier = below.modifier
            }
            resolved.element = element
        }
        if !labels.isEmpty { resolved.labels = labels[resolved.element ?? resolved.base] }
        return resolved
    }

    /// Replaces domains by their base types.
    private func followDomains(_ resolved: inout Resolved) {
        // PostgreSQL has no cyclic domains; the limit protects against a forged catalog.
        for _ in 0..<64 {
            guard let index = rows[resolved.base] else { return }
            let row = catalog.types[index]
            guard row.kind == UInt8(ascii: "d"), row.base != 0 else { return }
            if resolved.domain == nil { resolved.domain = QualifiedName(catalog: row.schema, row.name) }
            if row.isNotNull { resolved.isNotNull = true }
            if row.hasDefault { resolved.hasDefault = true }
            resolved.base = row.base
            resolved.modifier = row.baseModifier
        }
    }

    /// The name of a type that is not built in.
    func name(of type: PostgresDataType) -> String? { rows[type.rawValue].map { catalog.types[$0].name } }

    /// The enum behind a domain, or an array of it; nil for all other types.
    private func comparedType(_ type: UInt32, _ resolved: Resolved) -> String? {
        let isDomain = type != resolved.base || elementType(of: type) != resolved.element
        guard resolved.labels != nil, isDomain, let index = rows[resolved.element ?? resolved.base] else { return nil }
        guard let name = try? QualifiedName(catalog: catalog.types[index].schema, catalog.types[index].name).quoted
        else {
            return nil
        }
        return name + (resolved.element == nil ? "" : "[]")
    }

    private func elementType(of type: UInt32) -> UInt32? {
        if let known = PostgresDataType(rawValue: type).elementType { return known.rawValue }
        guard let index = rows[type], catalog.types[index].category == UInt8(ascii: "A") else { return nil }
        let element = catalog.types[index].element
        return element == 0 ? nil : element
    }

    /// The enums, domains and composite types, sorted by name.
    func userTypes() -> [UserType] {
        if catalog.types.isEmpty { return [] }
        let composites = Set(catalog.types.lazy.filter { $0.relation != 0 }.map(\.relation))
        var fields: [UInt32: [Catalog.Column]] = [:]
        if !composites.isEmpty {
            for column in catalog.columns where composites.contains(column.relation) {
                fields[column.relation, default: []].append(column)
            }
        }
        let found: [UserType] = catalog.types.compactMap { row in
            let definition: UserType.Definition
            switch row.kind {
            case UInt8(ascii: "e"): definition = .enumeration(labels: labels[row.oid] ?? [])
            case UInt8(ascii: "d"):
                let resolved = resolve(row.oid, modifier: -1)
                definition = .domain(base: PostgresDataType(rawValue: resolved.base), isNotNull: resolved.isNotNull)
            case UInt8(ascii: "c"):
                let columns = (fields[row.relation] ?? []).sorted { $0.number < $1.number }
                definition = .composite(fields: columns.map { attribute($0, comment: nil) })
            default: return nil
            }
            return UserType(
                name: QualifiedName(catalog: row.schema, row.name),
                type: PostgresDataType(rawValue: row.oid),
                definition: definition
            )
        }
        return found.sorted { $0.name < $1.name }
    }

    /// Makes the attribute that describes a column.
    ///
    /// - Parameters:
    ///   - isStored: whether the type's own checks hold for it; a view's outer join gives NULL for any type.
    ///   - elementChecks: the conditions of the checks on the column alone, where it is an array.
    func attribute(
        _ column: Catalog.Column, comment: String?, isStored: Bool = true, options: ColumnOptions? = nil,
        elementChecks: [String] = []
    ) -> Attribute {
        let resolved = resolve(column.type, modifier: column.typeModifier)
        let limits = Limits(type: resolved.element ?? resolved.base, modifier: resolved.modifier)
        let identity: Attribute.Identity =
            switch column.identity {
            case UInt8(ascii: "a"): .always
            case UInt8(ascii: "d"): .byDefault
            default: .none
            }
        let isReadable = registry?.isKnown(PostgresDataType(rawValue: resolved.base)) == true
        let hasDefault = column.hasDefault || identity != .none || resolved.hasDefault
        return Attribute(
            name: column.name,
            number: Int(column.number),
            typeName: column.typeName,
            type: PostgresDataType(rawValue: column.type),
            baseType: PostgresDataType(rawValue: resolved.base),
            isNotNull: column.isNotNull || isStored && resolved.isNotNull,
            hasDefault: hasDefault && !column.isGenerated,
            identity: identity,
            isGenerated: column.isGenerated,
            elementType: resolved.element.map { PostgresDataType(rawValue: $0) },
            enumLabels: resolved.labels,
            domain: resolved.domain,
            maximumLength: limits.length,
            numericPrecision: limits.precision,
            numericScale: limits.scale,
            comment: comment,
            structure: isReadable ? structure(of: resolved.element ?? resolved.base) : nil,
            isReadable: isReadable,
            hasLooseCollation: column.hasLooseCollation,
            comparedType: comparedType(column.type, resolved),
            operators: operators.isEmpty ? nil : operators[resolved.element ?? resolved.base],
            collation: column.collation,
            isLazy: options?.lazy == true,
            hasRequiredElements: resolved.element != nil
                && options?.nullElements.map { !$0 }
                    ?? elementChecks.contains { Self.refusesNull($0, in: column.name) },
            property: options?.property,
            takesNumbers: rows[resolved.base].map { catalog.types[$0].category == UInt8(ascii: "N") } ?? false
        )
    }
}

extension TypeResolver {
    /// Whether a condition is `array_position(column, NULL) IS NULL`, as `pg_get_expr` writes it: with a cast of NULL to the type of
    /// the elements, and, for `character varying[]`, of the column.
    private static func refusesNull(_ condition: String, in column: String) -> Bool {
        let names = [column] + ((try? SQLIdentifier.quote(column)).map { [$0] } ?? [])
        return names.flatMap { [$0, "(\($0))::text[]"] }.contains { array in
            let (head, tail) = ("(array_position(\(array), NULL::", ") IS NULL)")
            guard condition.utf8.starts(with: head.utf8), condition.hasSuffix(tail) else { return false }
            // A type's name: nothing else stands between.
            return !condition.dropFirst(head.count).dropLast(tail.count).contains { ",)".contains($0) }
        }
    }

    /// A type's modifier, decoded.
    private struct Limits {
        var length: Int?
        var precision: Int?
        var scale: Int?

        init(type: UInt32, modifier: Int32) {
            guard modifier >= 0 else { return }
            switch PostgresDataType(rawValue: type) {
            case .varchar, .bpchar: if modifier >= 4 { length = Int(modifier) - 4 }
            case .bit, .varbit: length = Int(modifier)
            case .numeric where modifier >= 4:
                let packed = Int(modifier) - 4
                precision = packed >> 16 & 0xFFFF
                // The scale is a signed 11-bit number since PostgreSQL 15; before it was 0 to 1,000.
                scale = (packed & 0x7FF ^ 1024) - 1024
            default: break
            }
        }
    }
}
