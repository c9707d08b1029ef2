import Hummingbird
import Kindred
import TrackerModels

/// `/documents`: texts that nothing reads by the way.
struct DocumentRoutes {
    func add(to group: RouterGroup<TrackerRequestContext>) {
        group.get(":document", use: show)
    }

    /// `GET /documents/1`: one statement for the document, one for its text.
    ///
    /// `document.content` is no `String`: the compiler knows that the text has to be loaded.
    @Sendable func show(_ request: Request, _ context: TrackerRequestContext) async throws -> DocumentText {
        let document = try await context.database.get(
            Document.self, context.organization, context.number("document"))
        return DocumentText(title: document.title, content: try await document.content.value)
    }
}

struct DocumentText: ResponseEncodable {
    let title: String
    let content: String
}
