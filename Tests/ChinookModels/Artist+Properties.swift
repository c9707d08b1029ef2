// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Artist: KeyedObject {
    /// The class of the objects.
    public typealias Target = Artist
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case artistID
        case name
        case albums
    }

    /// The column `artist_id`; 0 while a new object has no value.
    public var artistID: Int {
        get { readProperty(PropertyNumber.artistID.rawValue) }
        set { writeProperty(PropertyNumber.artistID.rawValue, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The relationship `albumSet`.
    public var albums: ToMany<Album> {
        toManyProperty(PropertyNumber.albums.rawValue)
    }
}

extension Artist {
    /// The values of a new row; the database fills what is nil.
    public static func new(artistID: Int, name: String? = nil) -> NewValues<Artist> {
        var values = NewValues<Artist>()
        values.setProperty(PropertyNumber.artistID.rawValue, artistID)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
