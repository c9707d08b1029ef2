// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Badge: KeyedObject {
    /// The class of the objects.
    public typealias Target = Badge
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.badge`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "badge",
        [
            .attribute(\Badge.id, "id", "integer"),
            .attribute(\Badge.label, "label", "text"),
            .attribute(\Badge.keeperID, "keeper_id", "integer", name: "keeperID"),
            .toOne(\Badge.keeper, "public_badge_badge_keeper_id_fkey", name: "keeper"),
        ]
    )
}

extension Badge {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case label
        case keeperID
        case keeper
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `label`.
    public var label: String? {
        get { readProperty(PropertyNumber.label.rawValue) }
        set { writeProperty(PropertyNumber.label.rawValue, newValue) }
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

extension Badge {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int,
        label: String? = nil,
        keeper: some OptionalToOneValue<Keeper> = Keeper?.none
    ) -> NewValues<Badge> {
        var values = NewValues<Badge>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.label.rawValue, label)
        values.setToOne(PropertyNumber.keeper.rawValue, columns: [PropertyNumber.keeperID.rawValue], keeper)
        return values
    }
}
