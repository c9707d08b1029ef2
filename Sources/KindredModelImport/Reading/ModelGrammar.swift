import HarmlessText
import KindredPostgres

/// Makes a model of a file's elements, and a remark of each element and attribute that it has no use for.
struct ModelGrammar {
    private(set) var entities: [CoreDataModel.Entity] = []
    private(set) var composites: [CoreDataModel.Composite] = []
    private(set) var configurations: [CoreDataModel.Configuration] = []
    private var omissions: [ModelReport] = []
    /// How often each attribute or element occurs that concerns Xcode alone.
    private var ignored: [String: Int] = [:]

    init(_ root: ModelXMLElement) throws(ModelImportError) {
        guard root.name == "model" else {
            throw ModelImportError(.malformed, "The file holds a \"\(root.name)\", not the \"model\" of Core Data")
        }
        var fields = Fields(root, "model")
        fields.ignore(Self.modelAttributes)
        finish(fields)
        for child in root.children { try read(child) }
        try checkNames()
    }

    /// Everything that the file says and that becomes no table; nothing of it is dropped in silence.
    var remarks: [ModelReport] {
        let reasons = Self.modelAttributes.merging(Self.propertyAttributes) { first, _ in first }
        return omissions
            + ignored.sorted { $0.key < $1.key }.map { name, count in
                ModelReport(.ignored, name, "\(reasons[name] ?? "it concerns Xcode"); \(count) in the model")
            }
    }

    // MARK: Parts for Xcode and classes

    static let modelAttributes = [
        "type": "it names the file's format", "documentVersion": "it names the file's format",
        "lastSavedToolsVersion": "it says which Xcode saved the file",
        "systemVersion": "it says which Xcode saved the file",
        "minimumToolsVersion": "it says which Xcode can open the file", "name": "it repeats the file's name",
        "sourceLanguage": "it concerns generated classes", "userDefinedModelVersionIdentifier": "it names the version",
        "elements": "they are places in Xcode's drawing", "usedWithCloudKit": "it concerns CloudKit",
        "usedWithSwiftData": "it concerns SwiftData", "lastSavedSystemVersion": "it says which Xcode saved the file",
    ]
    static let propertyAttributes = [
        "representedClassName": "classes come from `kindred generate`",
        "codeGenerationType": "classes come from `kindred generate`",
        "usesScalarValueType": "classes come from `kindred generate`",
        "customClassName": "classes come from `kindred generate`",
        "syncable": "it concerns iCloud", "storedInTruthFile": "it concerns files beside the store",
        "spotlightIndexingEnabled": "it concerns Spotlight", "allowsCloudEncryption": "it concerns CloudKit",
        "coreSpotlightDisplayNameExpression": "it concerns Spotlight",
        "versionHashModifier": "it concerns Core Data's own versions",
        "preservesValueInHistoryOnDeletion": "it concerns Core Data's history",
        "renamingIdentifier": "it ties versions of the model together, for a migration",
        "elementID": "it ties versions of the model together, for a migration",
    ]

    // MARK: Elements

    mutating func read(_ element: ModelXMLElement) throws(ModelImportError) {
        switch element.name {
        case "entity": entities.append(try entity(element))
        case "configuration": configurations.append(try configuration(element))
        case "composite", "compositeAttribute", "compositeType": composites.append(try composite(element))
        case "elements": ignored["elements", default: 0] += 1
        case "fetchRequest":
            omit(
                element.attributes["name"] ?? "fetchRequest",
                "a fetch request belongs in the program, as a FetchRequest")
        default: omit(element.name, "the element is unknown")
        }
    }

    mutating func entity(_ element: ModelXMLElement) throws(ModelImportError) -> CoreDataModel.Entity {
        var fields = Fields(element, try Self.name(of: element))
        var entity = CoreDataModel.Entity(name: fields.subject)
        entity.parent = fields.text("parentEntity")
        entity.isAbstract = fields.flag("isAbstract") ?? false
        entity.identity = fields.identity()
        fields.ignore(Self.propertyAttributes)
        finish(fields)
        for child in element.children {
            switch child.name {
            case "attribute", "composite":
                let (attribute, isIndexed) = try attribute(child, of: entity.name)
                entity.attributes.append(attribute)
                if isIndexed { entity.indexes.append(.init(elements: [.init(property: attribute.name)])) }
            case "relationship":
                let (relationship, isIndexed) = try relationship(child, of: entity.name)
                entity.relationships.append(relationship)
                if isIndexed { entity.indexes.append(.init(elements: [.init(property: relationship.name)])) }
            case "fetchedProperty":
                omit(
                    "\(entity.name).\(child.attributes["name"] ?? "fetchedProperty")",
                    "a fetched property belongs in the program, as a FetchRequest")
            case "fetchIndex": entity.indexes.append(fetchIndex(child, of: entity.name))
            case "compoundIndexes", "uniquenessConstraints": readLists(child, of: &entity)
            case "userInfo": entity.userInfo = userInfo(child, of: entity.name)
            default: omit("\(entity.name).\(child.name)", "the element is unknown")
            }
        }
        return entity
    }

    // MARK: Unread attributes and elements

    mutating func omit(_ subject: String, _ reason: String) {
        omissions.append(ModelReport(.omitted, subject, reason))
    }

    /// Reports attributes and elements that no rule has read.
    ///
    /// - Parameter isLeaf: Whether elements within the element are unknown.
    mutating func finish(_ fields: Fields, isLeaf: Bool = false) {
        if isLeaf { for child in fields.children { omit("\(fields.subject).\(child)", "the element is unknown") } }
        for name in fields.ignored { ignored[name, default: 0] += 1 }
        for problem in fields.problems { omit(fields.subject, problem) }
        for (name, value) in fields.rest.sorted(by: { $0.key < $1.key }) {
            omit(fields.subject, "the attribute \(name)=\"\(value)\" is unknown")
        }
        if fields.hasText { omit(fields.subject, "there is text where a model has none") }
    }

    static func name(of element: ModelXMLElement, in owner: String? = nil) throws(ModelImportError) -> String {
        let name = element.attributes["name"] ?? ""
        let place = owner.map { " of \($0)" } ?? ""
        guard !name.isEmpty else {
            throw ModelImportError(.inconsistent, "A \"\(element.name)\"\(place) has no name")
        }
        guard name.utf8.count <= 255, !name.unicodeScalars.contains(where: \.isHarmful) else {
            throw ModelImportError(
                .inconsistent,
                "The name of a \"\(element.name)\"\(place) is too long or holds control characters: \(name.prefix(80))")
        }
        return name
    }
}
