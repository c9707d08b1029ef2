// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Artist: TypedObject {
    /// The entity `public.artist`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "artist",
        [
            .attribute(\Artist.artistID, "artist_id", "integer", name: "artistID"),
            .attribute(\Artist.name, "name", "text"),
            .toMany(\Artist.albums, "public_album_album_artist_id_fkey", name: "albums"),
        ]
    )
}

extension Artist {
    /// The column `artist_id`; 0 while a new object has no value.
    public var artistID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `albumSet`.
    public var albums: ToMany<Album> {
        toManyProperty(2)
    }
}
