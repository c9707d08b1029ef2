// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Album: KeyedObject {
    /// The class of the objects.
    public typealias Target = Album
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case albumID
        case title
        case artistID
        case artist
        case tracks
    }

    /// The column `album_id`; 0 while a new object has no value.
    public var albumID: Int {
        get { readProperty(PropertyNumber.albumID.rawValue) }
        set { writeProperty(PropertyNumber.albumID.rawValue, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `artist_id`; 0 while a new object has no value.
    public var artistID: Int {
        get { readProperty(PropertyNumber.artistID.rawValue) }
        set { writeProperty(PropertyNumber.artistID.rawValue, newValue) }
    }

    /// The relationship `artist`.
    public var artist: ToOne<Artist> {
        get { toOneProperty(PropertyNumber.artist.rawValue) }
        @available(*, unavailable, message: "call try await artist.set(object)")
        set {}
    }

    /// The relationship `trackSet`.
    public var tracks: ToMany<Track> {
        toManyProperty(PropertyNumber.tracks.rawValue)
    }
}

extension Album {
    /// The values of a new row; the database fills what is nil.
    public static func new(albumID: Int, title: String, artist: some ToOneValue<Artist>) -> NewValues<Album> {
        var values = NewValues<Album>()
        values.setProperty(PropertyNumber.albumID.rawValue, albumID)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setToOne(PropertyNumber.artist.rawValue, columns: [PropertyNumber.artistID.rawValue], artist)
        return values
    }
}
