// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Album: TypedObject {
    /// The entity `public.album`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "album",
        [
            .attribute(\Album.albumID, "album_id", "integer", name: "albumID"),
            .attribute(\Album.title, "title", "text"),
            .attribute(\Album.artistID, "artist_id", "integer", name: "artistID"),
            .toOne(\Album.artist, "public_album_album_artist_id_fkey", name: "artist"),
            .toMany(\Album.tracks, "public_track_track_album_id_fkey", name: "tracks"),
        ]
    )
}

extension Album {
    /// The column `album_id`; 0 while a new object has no value.
    public var albumID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `artist_id`; 0 while a new object has no value.
    public var artistID: Int {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `artist`.
    public var artist: ToOne<Artist> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await artist.set(object)")
        set {}
    }

    /// The relationship `trackSet`.
    public var tracks: ToMany<Track> {
        toManyProperty(4)
    }
}
