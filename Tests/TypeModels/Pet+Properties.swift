// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Pet: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `weight`.
    public var weight: Int? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `keeper_id`.
    public var keeperID: Int? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The relationship `keeper`.
    public var keeper: ToOne<Keeper?> {
        get { toOneProperty(4) }
        @available(*, unavailable, message: "call try await keeper.set(object)")
        set {}
    }
}
