import KindredTesting
import Testing

@testable import Kindred

/// A context that lives long asks for parts that differ in a value, without end.
@Suite(.database(.sql(partSchema))) struct PartMemoryTests {
    @Test func objectsKeepTheAnswersOfFewParts() async throws {
        try await withDatabase { database, context, other in
            let projects = try await context.fetch("project").sorted("id").all()
            for number in 0..<200 {
                let found = try await context.fetch("project").sorted("id")
                    .prefetch("tasks") { $0.where("position < %@", number) }.all()
                #expect(found == projects)
            }
            for project in projects { #expect(project.withState { $0.relationships.count } <= 65) }
            // A part whose place another part has taken is asked for anew, and is right.
            for number in [80, 150, 199, 80] {
                for project in projects {
                    let part = try await project.set(forKey: "tasks").where("position < %@", number).sorted("id")
                    let expected = try await other.keys(
                        "SELECT id FROM task WHERE project_id = %1 AND position < \(number) ORDER BY id", of: project)
                    #expect(try await part.all().keys == expected)
                }
            }
        }
    }
}
