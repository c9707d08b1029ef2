// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Pet: KeyedObject {
    /// The class of the objects.
    public typealias Target = Pet
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.pet`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "pet",
        [
            .attribute(\Pet.id, "id", "integer"),
            .attribute(\Pet.name, "name", "text"),
            .attribute(\Pet.weight, "weight", "integer"),
            .attribute(\Pet.keeperID, "keeper_id", "integer", name: "keeperID"),
            .toOne(\Pet.keeper, "public_pet_pet_keeper_id_fkey", name: "keeper"),
        ]
    )
}

extension Pet {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case weight
        case keeperID
        case keeper
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The column `weight`.
    public var weight: Int? {
        get { readProperty(PropertyNumber.weight.rawValue) }
        set { writeProperty(PropertyNumber.weight.rawValue, newValue) }
    }

    /// The column `keeper_id`.
    public var keeperID: Int? {
        get { readProperty(PropertyNumber.keeperID.rawValue) }
        set { writeProperty(PropertyNumber.keeperID.rawValue, newValue) }
    }

    /// The relationship `keeper`.
    public var keeper: ToOne<Keeper?> {
        get { toOneProperty(PropertyNumber.keeper.rawValue) }
        @available(*, unavailable, message: "call try await keeper.set(object)")
        set {}
    }
}

extension Pet {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int,
        name: String? = nil,
        weight: Int? = nil,
        keeper: some OptionalToOneValue<Keeper> = Keeper?.none
    ) -> NewValues<Pet> {
        var values = NewValues<Pet>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setProperty(PropertyNumber.weight.rawValue, weight)
        values.setToOne(PropertyNumber.keeper.rawValue, columns: [PropertyNumber.keeperID.rawValue], keeper)
        return values
    }
}
