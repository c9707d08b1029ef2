import KindredPostgres

extension ModelGrammar {
    mutating func attribute(
        _ element: ModelXMLElement, of owner: String
    ) throws(ModelImportError) -> (CoreDataModel.Attribute, isIndexed: Bool) {
        let name = try Self.name(of: element, in: owner)
        var fields = Fields(element, "\(owner).\(name)")
        var attribute = CoreDataModel.Attribute(
            name: name, type: fields.text("attributeType") ?? (element.name == "composite" ? "Composite" : "Undefined"))
        attribute.isOptional = fields.flag("optional") ?? false
        attribute.isTransient = fields.flag("transient") ?? false
        let isDerived = fields.flag("derived") ?? false
        let derivation = fields.text("derivationExpression")
        if isDerived || derivation != nil { attribute.derivation = derivation ?? "" }
        let isDate = attribute.type == "Date"
        attribute.defaultValue = fields.text(
            isDate ? "defaultDateTimeInterval" : "defaultValueString", mayBeEmpty: !isDate)
        attribute.minimum = fields.text(isDate ? "minDateTimeInterval" : "minValueString")
        attribute.maximum = fields.text(isDate ? "maxDateTimeInterval" : "maxValueString")
        attribute.pattern = fields.text("regularExpressionString")
        attribute.transformer = fields.text("valueTransformerName")
        if attribute.type == "Transformable", attribute.transformer == nil {
            attribute.transformer = fields.text("customClassName")
        }
        for key in ["compositeName", "compositeTypeName", "compositeType", "compositeAttribute", "elementName"] {
            if let composite = fields.text(key) { attribute.composite = attribute.composite ?? composite }
        }
        attribute.isExternal = fields.flag("allowsExternalBinaryDataStorage") ?? false
        attribute.identity = fields.identity()
        let isIndexed = fields.flag("indexed") ?? false
        fields.ignore(Self.propertyAttributes)
        finish(fields)
        attribute.userInfo = try readUserInfo(in: element, fields.subject)
        return (attribute, isIndexed)
    }

    mutating func relationship(
        _ element: ModelXMLElement, of owner: String
    ) throws(ModelImportError) -> (CoreDataModel.Relationship, isIndexed: Bool) {
        let name = try Self.name(of: element, in: owner)
        var fields = Fields(element, "\(owner).\(name)")
        var relationship = CoreDataModel.Relationship(name: name, destination: fields.text("destinationEntity") ?? "")
        relationship.inverse = fields.text("inverseName")
        relationship.inverseEntity = fields.text("inverseEntity")
        relationship.isOptional = fields.flag("optional") ?? false
        relationship.isToMany = fields.flag("toMany") ?? false
        relationship.isOrdered = fields.flag("ordered") ?? false
        relationship.isTransient = fields.flag("transient") ?? false
        if let rule = fields.text("deletionRule") {
            if let known = CoreDataModel.Relationship.DeleteRule(rawValue: rule) {
                relationship.deleteRule = known
            } else {
                omit(fields.subject, "its delete rule \"\(rule)\" is unknown; it has nullify")
            }
        }
        relationship.minimumCount = count("minCount", &fields)
        relationship.maximumCount = count("maxCount", &fields)
        relationship.identity = fields.identity()
        let isIndexed = fields.flag("indexed") ?? false
        fields.ignore(Self.propertyAttributes)
        finish(fields)
        relationship.userInfo = try readUserInfo(in: element, fields.subject)
        return (relationship, isIndexed)
    }

    /// A number of objects; zero stands for none.
    mutating func count(_ key: String, _ fields: inout Fields) -> Int? {
        guard let text = fields.text(key) else { return nil }
        guard let count = Int(text), count >= 0, count <= Int(Int32.max) else {
            omit(fields.subject, "\(key) \"\(text)\" is no number of objects")
            return nil
        }
        return count == 0 ? nil : count
    }
}
