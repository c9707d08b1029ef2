// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Playlist: TypedObject {
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
    /// The column `playlist_id`; 0 while a new object has no value.
    public var playlistID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `playlist_trackSet`.
    public var playlistTracks: ToMany<PlaylistTrack> {
        toManyProperty(2)
    }

    /// The relationship `trackSet`.
    public var tracks: ToMany<Track> {
        toManyProperty(3)
    }
}
