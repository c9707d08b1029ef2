import KindredPostgres

extension ModelGrammar {
    mutating func fetchIndex(_ element: ModelXMLElement, of owner: String) -> CoreDataModel.Index {
        var fields = Fields(element, "\(owner).\(element.attributes["name"] ?? "fetchIndex")")
        var index = CoreDataModel.Index(name: fields.text("name"), elements: [])
        if let predicate = fields.text("partialIndexPredicate") {
            omit(fields.subject, "the index is not partial, as its condition \"\(predicate)\" is not translated")
        }
        _ = fields.identity()
        finish(fields)
        for child in element.children {
            guard child.name == "fetchIndexElement" else {
                omit("\(fields.subject).\(child.name)", "the element is unknown")
                continue
            }
            var part = Fields(child, fields.subject)
            var made = CoreDataModel.Index.Element(property: part.text("property"))
            made.expression = part.text("expression")
            _ = part.text("expressionType")
            made.isDescending = part.text("order") == "descending"
            made.isRTree = part.text("type") == "RTree"
            finish(part, isLeaf: true)
            index.elements.append(made)
        }
        return index
    }

    /// Uniqueness constraints and the older form of indexes: lists of lists of names.
    mutating func readLists(_ element: ModelXMLElement, of entity: inout CoreDataModel.Entity) {
        let isIndex = element.name == "compoundIndexes"
        finish(Fields(element, "\(entity.name).\(element.name)"))
        for list in element.children {
            guard list.name == (isIndex ? "compoundIndex" : "uniquenessConstraint") else {
                omit("\(entity.name).\(list.name)", "the element is unknown")
                continue
            }
            finish(Fields(list, "\(entity.name).\(list.name)"))
            var names: [String] = []
            for item in list.children {
                var fields = Fields(item, "\(entity.name).\(item.name)")
                if item.name == (isIndex ? "index" : "constraint"), let name = fields.text("value") {
                    names.append(name)
                    finish(fields, isLeaf: true)
                } else {
                    omit(fields.subject, "the element is unknown")
                }
            }
            if isIndex {
                entity.indexes.append(.init(elements: names.map { .init(property: $0) }))
            } else {
                entity.uniquenessConstraints.append(names)
            }
        }
    }

    mutating func composite(_ element: ModelXMLElement) throws(ModelImportError) -> CoreDataModel.Composite {
        var fields = Fields(element, try Self.name(of: element))
        _ = fields.identity()
        fields.ignore(Self.propertyAttributes)
        finish(fields)
        var composite = CoreDataModel.Composite(name: fields.subject, attributes: [])
        for child in element.children {
            if child.name == "attribute" || child.name == "composite" {
                composite.attributes.append(try attribute(child, of: composite.name).0)
            } else {
                omit("\(composite.name).\(child.name)", "the element is unknown")
            }
        }
        return composite
    }

    mutating func configuration(
        _ element: ModelXMLElement
    ) throws(ModelImportError) -> CoreDataModel.Configuration {
        var fields = Fields(element, try Self.name(of: element))
        fields.ignore(Self.modelAttributes)
        finish(fields)
        var configuration = CoreDataModel.Configuration(name: fields.subject, entities: [])
        for child in element.children {
            if child.name == "memberEntity", let name = child.attributes["name"] {
                configuration.entities.append(name)
                finish(Fields(child, "\(configuration.name).\(name)"), isLeaf: true)
            } else {
                omit("\(configuration.name).\(child.name)", "the element is unknown")
            }
        }
        return configuration
    }

    mutating func readUserInfo(
        in element: ModelXMLElement, _ subject: String
    ) throws(ModelImportError) -> [CoreDataModel.UserInfoEntry] {
        var entries: [CoreDataModel.UserInfoEntry] = []
        for child in element.children {
            if child.name == "userInfo" {
                entries += userInfo(child, of: subject)
            } else {
                omit("\(subject).\(child.name)", "the element is unknown")
            }
        }
        return entries
    }

    mutating func userInfo(_ element: ModelXMLElement, of subject: String) -> [CoreDataModel.UserInfoEntry] {
        var entries: [CoreDataModel.UserInfoEntry] = []
        finish(Fields(element, "\(subject).userInfo"))
        for child in element.children {
            var fields = Fields(child, "\(subject).userInfo")
            if child.name == "entry", let key = fields.text("key") {
                entries.append(.init(key: key, value: fields.text("value", mayBeEmpty: true) ?? ""))
                finish(fields, isLeaf: true)
            } else {
                omit("\(subject).\(child.name)", "the element is unknown")
            }
        }
        return entries.sorted { ($0.key, $0.value) < ($1.key, $1.value) }
    }
}
