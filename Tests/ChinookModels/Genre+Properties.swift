// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Genre: TypedObject {
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
    /// The column `genre_id`; 0 while a new object has no value.
    public var genreID: Int {
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
