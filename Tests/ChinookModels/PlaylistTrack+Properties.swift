// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension PlaylistTrack: TypedObject {
    /// The entity `public.playlist_track`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "playlist_track",
        [
            .attribute(\PlaylistTrack.playlistID, "playlist_id", "integer", name: "playlistID"),
            .attribute(\PlaylistTrack.trackID, "track_id", "integer", name: "trackID"),
            .toOne(\PlaylistTrack.playlist, "public_playlist_track_playlist_track_playlist_id_fkey", name: "playlist"),
            .toOne(\PlaylistTrack.track, "public_playlist_track_playlist_track_track_id_fkey", name: "track"),
        ]
    )
}

extension PlaylistTrack {
    /// The column `playlist_id`; 0 while a new object has no value.
    public var playlistID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `track_id`; 0 while a new object has no value.
    public var trackID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `playlist`.
    public var playlist: ToOne<Playlist> {
        get { toOneProperty(2) }
        @available(*, unavailable, message: "call try await playlist.set(object)")
        set {}
    }

    /// The relationship `track`.
    public var track: ToOne<Track> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await track.set(object)")
        set {}
    }
}
