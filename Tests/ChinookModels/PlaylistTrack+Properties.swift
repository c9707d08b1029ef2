// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension PlaylistTrack: KeyedObject {
    /// The class of the objects.
    public typealias Target = PlaylistTrack
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
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
    public static func new(
        playlist: some ToOneValue<Playlist>,
        track: some ToOneValue<Track>
    ) -> NewValues<PlaylistTrack> {
        var values = NewValues<PlaylistTrack>()
        values.setToOne(PropertyNumber.playlist.rawValue, columns: [PropertyNumber.playlistID.rawValue], playlist)
        values.setToOne(PropertyNumber.track.rawValue, columns: [PropertyNumber.trackID.rawValue], track)
        return values
    }
}
