import KindredPostgres

extension ModelPlanner {
    /// Makes the types of composite attributes, each after the types that it is made of.
    mutating func makeTypes() {
        var waiting = model.composites
        var isProgress = true
        while isProgress {
            isProgress = false
            var rest: [CoreDataModel.Composite] = []
            for composite in waiting {
                let parts = composite.attributes.compactMap { $0.type == "Composite" ? $0.composite : nil }
                let isReady = parts.allSatisfy { part in
                    compositeTypes[part] != nil || !model.composites.contains { $0.name == part }
                }
                if isReady, makeType(composite) {
                    isProgress = true
                } else if !isReady {
                    rest.append(composite)
                }
            }
            waiting = rest
        }
        for composite in waiting { report(.omitted, composite.name, "the composite is made of itself") }
    }

    mutating func makeType(_ composite: CoreDataModel.Composite) -> Bool {
        var names = NameSupply()
        var fields: [TypePlan.Field] = []
        for attribute in composite.attributes {
            let subject = "\(composite.name).\(attribute.name)"
            guard !attribute.isTransient, attribute.derivation == nil, let type = sqlType(of: attribute, subject) else {
                if attribute.isTransient { report(.omitted, subject, "it is transient, so it is not stored") }
                if attribute.derivation != nil { report(.omitted, subject, "fields of composites cannot be derived") }
                continue
            }
            fields.append(TypePlan.Field(name: names.take(attribute.name), type: type.sql))
            let hasLimits =
                !attribute.isOptional || attribute.defaultValue != nil || attribute.minimum != nil
                || attribute.maximum != nil || attribute.pattern != nil
            if hasLimits {
                report(
                    .changed, subject,
                    "fields of composite types have no default, and nothing checks whether they are required or in a range"
                )
            }
            if !attribute.userInfo.isEmpty {
                report(.omitted, subject, "its user info has no place in a composite type")
            }
        }
        guard !fields.isEmpty else {
            report(.omitted, composite.name, "the composite has no field")
            return false
        }
        let name = relationNames.take(composite.name)
        if name != composite.name { report(.changed, composite.name, "the composite type is called \(name)") }
        guard let schema = try? SQLIdentifier.quote(options.schema), let quoted = try? SQLIdentifier.quote(name) else {
            return false
        }
        plan.types.append(TypePlan(name: name, fields: fields))
        compositeTypes[composite.name] = "\(schema).\(quoted)"
        return true
    }
}
