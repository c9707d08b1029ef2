// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension MediaType: TypedObject {
    /// The entity `public.media_type`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "media_type",
        [
            .attribute(\MediaType.mediaTypeID, "media_type_id", "integer", name: "mediaTypeID"),
            .attribute(\MediaType.name, "name", "text"),
            .toMany(\MediaType.tracks, "public_track_track_media_type_id_fkey", name: "tracks"),
        ]
    )
}

extension MediaType {
    /// The column `media_type_id`; 0 while a new object has no value.
    public var mediaTypeID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `trackSet`.
    public var tracks: ToMany<Track> {
        toManyProperty(2)
    }
}
