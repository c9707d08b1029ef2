// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Track: KeyedObject {
    /// The class of the objects.
    public typealias Target = Track
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case trackID
        case name
        case albumID
        case mediaTypeID
        case genreID
        case composer
        case milliseconds
        case bytes
        case unitPrice
        case album
        case genre
        case invoiceLines
        case mediaType
        case playlists
        case playlistTracks
    }

    /// The column `track_id`; 0 while a new object has no value.
    public var trackID: Int {
        get { readProperty(PropertyNumber.trackID.rawValue) }
        set { writeProperty(PropertyNumber.trackID.rawValue, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The column `album_id`.
    public var albumID: Int? {
        get { readProperty(PropertyNumber.albumID.rawValue) }
        set { writeProperty(PropertyNumber.albumID.rawValue, newValue) }
    }

    /// The column `media_type_id`; 0 while a new object has no value.
    public var mediaTypeID: Int {
        get { readProperty(PropertyNumber.mediaTypeID.rawValue) }
        set { writeProperty(PropertyNumber.mediaTypeID.rawValue, newValue) }
    }

    /// The column `genre_id`.
    public var genreID: Int? {
        get { readProperty(PropertyNumber.genreID.rawValue) }
        set { writeProperty(PropertyNumber.genreID.rawValue, newValue) }
    }

    /// The column `composer`.
    public var composer: String? {
        get { readProperty(PropertyNumber.composer.rawValue) }
        set { writeProperty(PropertyNumber.composer.rawValue, newValue) }
    }

    /// The column `milliseconds`; 0 while a new object has no value.
    public var milliseconds: Int {
        get { readProperty(PropertyNumber.milliseconds.rawValue) }
        set { writeProperty(PropertyNumber.milliseconds.rawValue, newValue) }
    }

    /// The column `bytes`.
    public var bytes: Int? {
        get { readProperty(PropertyNumber.bytes.rawValue) }
        set { writeProperty(PropertyNumber.bytes.rawValue, newValue) }
    }

    /// The column `unit_price`; 0 while a new object has no value.
    public var unitPrice: PostgresNumeric {
        get { readProperty(PropertyNumber.unitPrice.rawValue) }
        set { writeProperty(PropertyNumber.unitPrice.rawValue, newValue) }
    }

    /// The relationship `album`.
    public var album: ToOne<Album?> {
        get { toOneProperty(PropertyNumber.album.rawValue) }
        @available(*, unavailable, message: "call try await album.set(object)")
        set {}
    }

    /// The relationship `genre`.
    public var genre: ToOne<Genre?> {
        get { toOneProperty(PropertyNumber.genre.rawValue) }
        @available(*, unavailable, message: "call try await genre.set(object)")
        set {}
    }

    /// The relationship `invoice_lineSet`.
    public var invoiceLines: ToMany<InvoiceLine> {
        toManyProperty(PropertyNumber.invoiceLines.rawValue)
    }

    /// The relationship `media_type`.
    public var mediaType: ToOne<MediaType> {
        get { toOneProperty(PropertyNumber.mediaType.rawValue) }
        @available(*, unavailable, message: "call try await mediaType.set(object)")
        set {}
    }

    /// The relationship `playlistSet`.
    public var playlists: ToMany<Playlist> {
        toManyProperty(PropertyNumber.playlists.rawValue)
    }

    /// The relationship `playlist_trackSet`.
    public var playlistTracks: ToMany<PlaylistTrack> {
        toManyProperty(PropertyNumber.playlistTracks.rawValue)
    }
}

extension Track {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        trackID: Int,
        name: String,
        composer: String? = nil,
        milliseconds: Int,
        bytes: Int? = nil,
        unitPrice: PostgresNumeric,
        mediaType: some ToOneValue<MediaType>,
        album: some OptionalToOneValue<Album> = Album?.none,
        genre: some OptionalToOneValue<Genre> = Genre?.none
    ) -> NewValues<Track> {
        var values = NewValues<Track>()
        values.setProperty(PropertyNumber.trackID.rawValue, trackID)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setProperty(PropertyNumber.composer.rawValue, composer)
        values.setProperty(PropertyNumber.milliseconds.rawValue, milliseconds)
        values.setProperty(PropertyNumber.bytes.rawValue, bytes)
        values.setProperty(PropertyNumber.unitPrice.rawValue, unitPrice)
        values.setToOne(PropertyNumber.mediaType.rawValue, columns: [PropertyNumber.mediaTypeID.rawValue], mediaType)
        values.setToOne(PropertyNumber.album.rawValue, columns: [PropertyNumber.albumID.rawValue], album)
        values.setToOne(PropertyNumber.genre.rawValue, columns: [PropertyNumber.genreID.rawValue], genre)
        return values
    }
}
