import Foundation
import Kindred
import KindredTesting
import Testing

@Suite struct DemoDatabaseTests {
    /// Each line of `sql/README.md` such as "| `person.titles` | many-to-many | `title.people` | …" holds.
    @Test(.database(.file("../../../sql/demo.sql"))) func itsReadmeNamesTheRelationshipsThatAreInferred() async throws {
        try await withDatabase { database, _, _ in
            let file = URL(filePath: #filePath).appending(path: "../../../../sql/README.md").standardizedFileURL
            let kinds: [String: Relationship.Kind] = [
                "one-to-one": .oneToOne, "one-to-many": .oneToMany, "many-to-one": .manyToOne,
                "many-to-many": .manyToMany,
            ]
            var found = 0
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let cells = line.split(separator: "|").map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
                }
                guard cells.count >= 3, let kind = kinds[cells[1]] else { continue }
                let (source, destination) = (cells[0].split(separator: "."), cells[2].split(separator: "."))
                guard source.count == 2, destination.count == 2 else { continue }
                let entity = try database.schema.entity(named: String(source[0]))
                let relationship = entity.relationship(named: String(source[1]))
                #expect(relationship?.kind == kind, "\(line)")
                #expect(relationship?.destination.name == String(destination[0]), "\(line)")
                #expect(relationship?.inverse == String(destination[1]), "\(line)")
                found += 1
            }
            #expect(found > 10)
        }
    }
}
