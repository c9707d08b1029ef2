// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Genre: KeyedObject {
    /// The class of the objects.
    public typealias Target = Genre
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.genre`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "genre",
        [
            .attribute(\Genre.genreID, "genre_id", "integer", name: "genreID"),
            .attribute(\Genre.name, "name", "text"),
            .toMany(\Genre.tracks, "public_track_track_genre_id_fkey", name: "tracks"),
        ]
    )
}

extension Genre {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case genreID
        case name
        case tracks
    }

    /// The column `genre_id`; 0 while a new object has no value.
    public var genreID: Int {
        get { readProperty(PropertyNumber.genreID.rawValue) }
        set { writeProperty(PropertyNumber.genreID.rawValue, newValue) }
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

extension Genre {
    /// The values of a new row; the database fills what is nil.
    public static func new(genreID: Int, name: String? = nil) -> NewValues<Genre> {
        var values = NewValues<Genre>()
        values.setProperty(PropertyNumber.genreID.rawValue, genreID)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
