// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Größe: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        readProperty(0)
    }

    /// The column `名前`; empty while a new object has no value.
    public var 名前: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `self`.
    public var selfValue: String? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `2nd`.
    public var column2nd: Int? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `has space`.
    public var hasSpace: Bool? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `quote"d`.
    public var quoteD: String? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `back\slash'`.
    public var backSlash: String? {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `state`.
    public var state: String? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `Type`.
    public var type: String? {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The column `description`.
    public var descriptionValue: String? {
        get { readProperty(9) }
        set { writeProperty(9, newValue) }
    }

    /// The relationship `houseSet`.
    public var houses: ToMany<House> {
        toManyProperty(10)
    }
}
