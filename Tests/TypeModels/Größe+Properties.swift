// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Größe: KeyedObject {
    /// The class of the objects.
    public typealias Target = Größe
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.Größe`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "Größe",
        [
            .attribute(\Größe.id, "id", "integer"),
            .attribute(\Größe.名前, "名前", "text"),
            .attribute(\Größe.selfValue, "self", "text", name: "selfValue"),
            .attribute(\Größe.column2nd, "2nd", "integer", name: "column2nd"),
            .attribute(\Größe.hasSpace, "has space", "boolean", name: "hasSpace"),
            .attribute(\Größe.quoteD, "quote\"d", "text", name: "quoteD"),
            .attribute(\Größe.backSlash, "back\\slash`", "text", name: "backSlash"),
            .attribute(\Größe.state, "state", "text"),
            .attribute(\Größe.type, "Type", "text", name: "type"),
            .attribute(\Größe.descriptionValue, "description", "text", name: "descriptionValue"),
            .toMany(\Größe.houses, "public_house_house_size_id_fkey", name: "houses"),
        ]
    )
}

extension Größe {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case 名前
        case selfValue
        case column2nd
        case hasSpace
        case quoteD
        case backSlash
        case state
        case type
        case descriptionValue
        case houses
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        readProperty(PropertyNumber.id.rawValue)
    }

    /// The column `名前`; empty while a new object has no value.
    public var 名前: String {
        get { readProperty(PropertyNumber.名前.rawValue) }
        set { writeProperty(PropertyNumber.名前.rawValue, newValue) }
    }

    /// The column `self`.
    public var selfValue: String? {
        get { readProperty(PropertyNumber.selfValue.rawValue) }
        set { writeProperty(PropertyNumber.selfValue.rawValue, newValue) }
    }

    /// The column `2nd`.
    public var column2nd: Int? {
        get { readProperty(PropertyNumber.column2nd.rawValue) }
        set { writeProperty(PropertyNumber.column2nd.rawValue, newValue) }
    }

    /// The column `has space`.
    public var hasSpace: Bool? {
        get { readProperty(PropertyNumber.hasSpace.rawValue) }
        set { writeProperty(PropertyNumber.hasSpace.rawValue, newValue) }
    }

    /// The column `quote"d`.
    public var quoteD: String? {
        get { readProperty(PropertyNumber.quoteD.rawValue) }
        set { writeProperty(PropertyNumber.quoteD.rawValue, newValue) }
    }

    /// The column `back\slash'`.
    public var backSlash: String? {
        get { readProperty(PropertyNumber.backSlash.rawValue) }
        set { writeProperty(PropertyNumber.backSlash.rawValue, newValue) }
    }

    /// The column `state`.
    public var state: String? {
        get { readProperty(PropertyNumber.state.rawValue) }
        set { writeProperty(PropertyNumber.state.rawValue, newValue) }
    }

    /// The column `Type`.
    public var type: String? {
        get { readProperty(PropertyNumber.type.rawValue) }
        set { writeProperty(PropertyNumber.type.rawValue, newValue) }
    }

    /// The column `description`.
    public var descriptionValue: String? {
        get { readProperty(PropertyNumber.descriptionValue.rawValue) }
        set { writeProperty(PropertyNumber.descriptionValue.rawValue, newValue) }
    }

    /// The relationship `houseSet`.
    public var houses: ToMany<House> {
        toManyProperty(PropertyNumber.houses.rawValue)
    }
}

extension Größe {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        名前: String,
        selfValue: String? = nil,
        column2nd: Int? = nil,
        hasSpace: Bool? = nil,
        quoteD: String? = nil,
        backSlash: String? = nil,
        state: String? = nil,
        type: String? = nil,
        descriptionValue: String? = nil
    ) -> NewValues<Größe> {
        var values = NewValues<Größe>()
        values.setProperty(PropertyNumber.名前.rawValue, 名前)
        values.setProperty(PropertyNumber.selfValue.rawValue, selfValue)
        values.setProperty(PropertyNumber.column2nd.rawValue, column2nd)
        values.setProperty(PropertyNumber.hasSpace.rawValue, hasSpace)
        values.setProperty(PropertyNumber.quoteD.rawValue, quoteD)
        values.setProperty(PropertyNumber.backSlash.rawValue, backSlash)
        values.setProperty(PropertyNumber.state.rawValue, state)
        values.setProperty(PropertyNumber.type.rawValue, type)
        values.setProperty(PropertyNumber.descriptionValue.rawValue, descriptionValue)
        return values
    }
}
