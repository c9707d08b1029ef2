// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Track: TypedObject {
    /// The entity `public.track`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "track",
        [
            .attribute(\Track.trackID, "track_id", "integer", name: "trackID"),
            .attribute(\Track.name, "name", "text"),
            .attribute(\Track.albumID, "album_id", "integer", name: "albumID"),
            .attribute(\Track.mediaTypeID, "media_type_id", "integer", name: "mediaTypeID"),
            .attribute(\Track.genreID, "genre_id", "integer", name: "genreID"),
            .attribute(\Track.composer, "composer", "text"),
            .attribute(\Track.milliseconds, "milliseconds", "integer"),
            .attribute(\Track.bytes, "bytes", "integer"),
            .attribute(\Track.unitPrice, "unit_price", "numeric", name: "unitPrice"),
            .toOne(\Track.album, "public_track_track_album_id_fkey", name: "album"),
            .toOne(\Track.genre, "public_track_track_genre_id_fkey", name: "genre"),
            .toMany(\Track.invoiceLines, "public_invoice_line_invoice_line_track_id_fkey", name: "invoiceLines"),
            .toOne(\Track.mediaType, "public_track_track_media_type_id_fkey", name: "mediaType"),
            .toMany(
                \Track.playlists,
                "public_playlist_track_playlist_track_track_id_fkey_playlist_track_playlist_id_fkey",
                name: "playlists"
            ),
            .toMany(
                \Track.playlistTracks,
                "public_playlist_track_playlist_track_track_id_fkey",
                name: "playlistTracks"
            ),
        ]
    )
}

extension Track {
    /// The column `track_id`; 0 while a new object has no value.
    public var trackID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `album_id`.
    public var albumID: Int? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `media_type_id`; 0 while a new object has no value.
    public var mediaTypeID: Int {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `genre_id`.
    public var genreID: Int? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `composer`.
    public var composer: String? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `milliseconds`; 0 while a new object has no value.
    public var milliseconds: Int {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `bytes`.
    public var bytes: Int? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `unit_price`; 0 while a new object has no value.
    public var unitPrice: PostgresNumeric {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The relationship `album`.
    public var album: ToOne<Album?> {
        get { toOneProperty(9) }
        @available(*, unavailable, message: "call try await album.set(object)")
        set {}
    }

    /// The relationship `genre`.
    public var genre: ToOne<Genre?> {
        get { toOneProperty(10) }
        @available(*, unavailable, message: "call try await genre.set(object)")
        set {}
    }

    /// The relationship `invoice_lineSet`.
    public var invoiceLines: ToMany<InvoiceLine> {
        toManyProperty(11)
    }

    /// The relationship `media_type`.
    public var mediaType: ToOne<MediaType> {
        get { toOneProperty(12) }
        @available(*, unavailable, message: "call try await mediaType.set(object)")
        set {}
    }

    /// The relationship `playlistSet`.
    public var playlists: ToMany<Playlist> {
        toManyProperty(13)
    }

    /// The relationship `playlist_trackSet`.
    public var playlistTracks: ToMany<PlaylistTrack> {
        toManyProperty(14)
    }
}
