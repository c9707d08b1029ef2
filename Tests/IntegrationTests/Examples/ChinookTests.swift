import Kindred
import KindredTesting
import TestSupport
import Testing

@Suite(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand")) struct ChinookTests {
    @Test(.database(.sql(Chinook.sql ?? ""))) func aPlaylistsTracksChangeThroughTheSet() async throws {
        try await withDatabase { database, context, other in
            let playlist = try await context.fetch("playlist").where("name = %@", "Grunge").one()
            let tracks = try await playlist.set(forKey: "trackSet")
            let before = try await tracks.count
            let track = try await context.fetch("track").where("NOT (ANY playlistSet == %@)", playlist).sorted(
                "track_id"
            ).limit(1).one()
            try await tracks.insert(track)
            let links: SQL = "SELECT count(*) FROM playlist_track WHERE playlist_id = \(playlist["playlist_id"])"
            #expect(try await other.value(links) == .integer(Int64(before + 1)))
            #expect(try await track.set(forKey: "playlistSet").contains(playlist))
            try await tracks.remove(track)
            #expect(try await other.value(links) == .integer(Int64(before)))
        }
    }

    @Test(.database(.sql(Chinook.sql ?? ""))) func employeesReportToEmployees() async throws {
        try await withDatabase { database, context, other in
            let employee = try database.schema.entity(named: "employee")
            let up = try #require(employee.relationships.first { $0.destination == employee.name && !$0.isToMany })
            let down = try #require(employee.relationship(named: up.inverse))
            #expect(down.isToMany && down.destination == employee.name)
            let boss = try await context.fetch("employee").where("\(up.name) == nil").one()
            for try await report in try await boss.set(forKey: down.name) {
                #expect(try await report.object(forKey: up.name) === boss)
            }
        }
    }

    @Test(.database(.sql(Chinook.sql ?? ""))) func everyRelationshipOfOneAlbumsObjectsCanBeWalked() async throws {
        try await withDatabase { database, context, other in
            let album = try await context.fetch("album").where("album_id = 1").one()
            var seen: Set<DatabaseObject> = [album]
            var frontier = [album]
            for _ in 0..<3 {
                var next: [DatabaseObject] = []
                for object in frontier.prefix(20) {
                    for relationship in object.entity.relationships {
                        for name in [relationship.name] + relationship.aliases {
                            if relationship.isToMany {
                                next += try await object.set(forKey: name).objects
                            } else if let found = try await object.object(forKey: name) {
                                next.append(found)
                            }
                        }
                    }
                }
                frontier = next.filter { seen.insert($0).inserted }
            }
            #expect(seen.count > 100)
        }
    }
}
