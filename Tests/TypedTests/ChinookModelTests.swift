import ChinookModels
import Foundation
import Kindred
import KindredTesting
import TestSupport
import Testing

/// The classes of a real database, over its data.
@Suite(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand")) struct ChinookModelTests {
    @Test(.database(.sql(Chinook.sql ?? ""))) func classesAndConditionsReadWell() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let (tracks, recorder) = try await recordingStatements {
                try await context.fetch(Track.self)
                    .where { $0.album.artist.name == "AC/DC" && $0.milliseconds > 300_000 }
                    .sorted { $0.album.title }.sorted { $0.trackID }
                    .prefetch(\.album.artist)
                    .all()
            }
            #expect(!tracks.isEmpty && recorder.statements.count == 3)
            for track in tracks {
                let album: Album? = try await track.album.object
                #expect(try await album?.artist.object.name == "AC/DC" && track.composer != nil)
            }
            let name = "Grunge"
            let grunge = try await context.fetch(Playlist.self).where(#Predicate { $0.name == name }).one()
            let count = try await grunge.tracks.count
            #expect(try await context.fetch(Track.self).where { $0.playlists.contains(grunge) }.count() == count)
            let most = try await context.fetch(Playlist.self).where { $0.tracks.count { $0.bytes > 5_000_000 } > 10 }
                .all()
            #expect(most.contains { $0.name == "Music" } && most.count < 10)
        }
    }

    @Test(.database(.sql(Chinook.sql ?? ""))) func treesAndStagedChanges() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let boss = try await context.fetch(Employee.self).where { $0.reportsToObject == nil }.one()
            let reports = try await boss.employees.objects
            #expect(reports.count == 2 && reports.allSatisfy { $0.reportsTo == boss.employeeID })
            let customer = try #require(await context.find(Customer.self, 1))
            let agent: Employee? = try await customer.supportRep.object
            #expect(agent?.state == "AB" && customer.state == "SP")
            // Keys without a default are given by the program.
            let invoice = try context.add(Invoice.self) {
                $0.invoiceID = 10_000
                $0.customer = customer
                $0.invoiceDate = PostgresTimestamp("2026-01-01 12:00:00")
                $0.total = 0
            }
            for number in 1...3 {
                let track = try #require(await context.find(Track.self, number))
                try context.add(InvoiceLine.self) {
                    $0.invoiceLineID = 20_000 + number
                    $0.invoice = invoice
                    $0.track = track
                    $0.unitPrice = track.unitPrice
                    $0.quantity = number
                }
            }
            invoice.total = PostgresNumeric("5.94") ?? 0
            try await context.save()
            #expect(try await invoice.invoiceLines.count == 3 && !invoice.isInserted)
            let total = try await context.fetch(InvoiceLine.self).where { $0.invoice == invoice }
                .select(\.unitPrice, \.quantity).all().map(\.1).reduce(0, +)
            #expect(total == 6)
        }
    }
}
