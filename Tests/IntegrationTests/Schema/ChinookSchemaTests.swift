import Kindred
import KindredTesting
import TestSupport
import Testing

/// A real schema's names.
@Suite(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand")) struct ChinookSchemaTests {
    @Test(.database(.sql(Chinook.sql ?? "")))
    func namesReadWell() async throws {
        try await withSchema { schema in
            var names: [String] = []
            for entity in schema.entities {
                for relationship in entity.relationships {
                    names.append("\(entity.name.name).\(relationship.name): \(relationship.destination.name)")
                }
            }
            #expect(
                names == [
                    "album.artist: artist", "album.trackSet: track", "artist.albumSet: album",
                    "customer.invoiceSet: invoice", "customer.support_rep: employee",
                    "employee.customerSet: customer", "employee.employeeSet: employee",
                    "employee.reports_toObject: employee", "genre.trackSet: track", "invoice.customer: customer",
                    "invoice.invoice_lineSet: invoice_line", "invoice_line.invoice: invoice",
                    "invoice_line.track: track", "media_type.trackSet: track",
                    "playlist.playlist_trackSet: playlist_track", "playlist.trackSet: track",
                    "playlist_track.playlist: playlist", "playlist_track.track: track", "track.album: album",
                    "track.genre: genre", "track.invoice_lineSet: invoice_line", "track.media_type: media_type",
                    "track.playlistSet: playlist", "track.playlist_trackSet: playlist_track",
                ]
            )
            let tracks = try #require(try schema.entity(named: "playlist").relationship(named: "trackSet"))
            #expect(tracks.kind == .manyToMany && tracks.inverse == "playlistSet")
            #expect(tracks.helper?.entity.name == "playlist_track")
            #expect(schema.diagnostics.isEmpty)
        }
    }
}
