// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Badge: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `label`.
    public var label: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `keeper_id`.
    public var keeperID: Int? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `keeper`.
    public var keeper: ToOne<Keeper?> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await keeper.set(object)")
        set {}
    }
}
