// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension MediaType: KeyedObject {
    /// The class of the objects.
    public typealias Target = MediaType
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case mediaTypeID
        case name
        case tracks
    }

    /// The column `media_type_id`; 0 while a new object has no value.
    public var mediaTypeID: Int {
        get { readProperty(PropertyNumber.mediaTypeID.rawValue) }
        set { writeProperty(PropertyNumber.mediaTypeID.rawValue, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The relationship `trackSet`.
    public var tracks: ToMany<Track> {
        toManyProperty(PropertyNumber.tracks.rawValue)
    }
}

extension MediaType {
    /// The values of a new row; the database fills what is nil.
    public static func new(mediaTypeID: Int, name: String? = nil) -> NewValues<MediaType> {
        var values = NewValues<MediaType>()
        values.setProperty(PropertyNumber.mediaTypeID.rawValue, mediaTypeID)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
