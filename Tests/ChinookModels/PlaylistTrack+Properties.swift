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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case playlistID
        case trackID
        case playlist
        case track
    }

    /// The column `playlist_id`; 0 while a new object has no value.
    public var playlistID: Int {
        get { readProperty(PropertyNumber.playlistID.rawValue) }
        set { writeProperty(PropertyNumber.playlistID.rawValue, newValue) }
    }

    /// The column `track_id`; 0 while a new object has no value.
    public var trackID: Int {
        get { readProperty(PropertyNumber.trackID.rawValue) }
        set { writeProperty(PropertyNumber.trackID.rawValue, newValue) }
    }

    /// The relationship `playlist`.
    public var playlist: ToOne<Playlist> {
        get { toOneProperty(PropertyNumber.playlist.rawValue) }
        @available(*, unavailable, message: "call try await playlist.set(object)")
        set {}
    }

    /// The relationship `track`.
    public var track: ToOne<Track> {
        get { toOneProperty(PropertyNumber.track.rawValue) }
        @available(*, unavailable, message: "call try await track.set(object)")
        set {}
    }
}

extension PlaylistTrack {
    /// The values of a new row; the database fills what is nil.
    public static func new(playlistID: Int, trackID: Int) -> NewValues<PlaylistTrack> {
        var values = NewValues<PlaylistTrack>()
        values.setProperty(PropertyNumber.playlistID.rawValue, playlistID)
        values.setProperty(PropertyNumber.trackID.rawValue, trackID)
        return values
    }

    /// The values of a new row; the database fills what is nil.
    public static func new(playlist: Playlist, track: Track) -> NewValues<PlaylistTrack> {
        var values = NewValues<PlaylistTrack>()
        values.setProperty(PropertyNumber.playlist.rawValue, playlist)
        values.setProperty(PropertyNumber.track.rawValue, track)
        return values
    }
}
