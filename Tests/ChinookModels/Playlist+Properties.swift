// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Playlist: KeyedObject {
    /// The class of the objects.
    public typealias Target = Playlist
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.playlist`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "playlist",
        [
            .attribute(\Playlist.playlistID, "playlist_id", "integer", name: "playlistID"),
            .attribute(\Playlist.name, "name", "text"),
            .toMany(
                \Playlist.playlistTracks,
                "public_playlist_track_playlist_track_playlist_id_fkey",
                name: "playlistTracks"
            ),
            .toMany(
                \Playlist.tracks,
                "public_playlist_track_playlist_track_playlist_id_fkey_playlist_track_track_id_fkey",
                name: "tracks"
            ),
        ]
    )
}

extension Playlist {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case playlistID
        case name
        case playlistTracks
        case tracks
    }

    /// The column `playlist_id`; 0 while a new object has no value.
    public var playlistID: Int {
        get { readProperty(PropertyNumber.playlistID.rawValue) }
        set { writeProperty(PropertyNumber.playlistID.rawValue, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The relationship `playlist_trackSet`.
    public var playlistTracks: ToMany<PlaylistTrack> {
        toManyProperty(PropertyNumber.playlistTracks.rawValue)
    }

    /// The relationship `trackSet`.
    public var tracks: ToMany<Track> {
        toManyProperty(PropertyNumber.tracks.rawValue)
    }
}

extension Playlist {
    /// The values of a new row; the database fills what is nil.
    public static func new(playlistID: Int, name: String? = nil) -> NewValues<Playlist> {
        var values = NewValues<Playlist>()
        values.setProperty(PropertyNumber.playlistID.rawValue, playlistID)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
