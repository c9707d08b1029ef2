import Hummingbird
import Kindred
import NIOCore
import ShopModels

/// `/people`: one person with what belongs to them, and changes of sets.
struct PersonRoutes {
    func add(to group: RouterGroup<ShopRequestContext>) {
        group.get(":id", use: show)
        group.post(":id/emails", use: addEmail)
        group.delete(":id/emails/:email", use: removeEmail)
        group.post(":id/emails/:email/restore", use: restoreEmail)
        group.put(":id/titles", use: setTitles)
    }

    @Sendable func show(_ request: Request, _ context: ShopRequestContext) async throws -> ObjectView {
        try await view(person(in: context))
    }

    /// `POST /people/1/emails` with `{"address": "…"}`: INSERT; 422 if the database refuses the address.
    @Sendable func addEmail(
        _ request: Request, _ context: ShopRequestContext
    ) async throws -> EditedResponse<ObjectView> {
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let new = try ObjectPatch(json: body.readableBytesView)
        let person = try await person(in: context)
        let email = try context.database.add(Email.self, new, allowing: [\.address])
        try await person.emails.insert(email)
        try await context.database.save()
        return EditedResponse(status: .created, response: try await view(person))
    }

    /// `DELETE /people/1/emails/7`: the address stays, but no request shows it, and another person may have it.
    @Sendable func removeEmail(_ request: Request, _ context: ShopRequestContext) async throws -> ObjectView {
        let (number, person) = (try context.number("email"), try await person(in: context))
        let email = try await person.emails.where { $0.id == number }.one()
        try await context.database.delete(email)
        return try await view(person)
    }

    /// `POST /people/1/emails/7/restore`: 409 if another person has the address by now.
    @Sendable func restoreEmail(_ request: Request, _ context: ShopRequestContext) async throws -> ObjectView {
        let (number, person) = (try context.number("email"), try await person(in: context))
        let email = try await person.emails.unfiltered().where { $0.id == number }.one()
        try await context.database.restore(email)
        return try await view(person)
    }

    /// `PUT /people/1/titles` with `["Dr.", "Prof."]`: one atomic change of the helper table.
    @Sendable func setTitles(_ request: Request, _ context: ShopRequestContext) async throws -> ObjectView {
        let names = try await request.decode(as: [String].self, context: context)
        let person = try await person(in: context)
        let titles = try await context.database.fetch(Title.self).where { $0.name.isIn(names) }.all()
        if let unknown = names.first(where: { name in !titles.contains { $0.name == name } }) {
            throw HTTPError(.unprocessableContent, message: "There is no title \(unknown)")
        }
        try await person.titles.set(titles)
        return try await view(person)
    }

    private func view(_ person: Person) async throws -> ObjectView {
        try await person.view(
            \.id, \.firstname, \.surname, \.titles.name, \.emails.id, \.emails.address, keys: .properties)
    }

    private func person(in context: ShopRequestContext) async throws -> Person {
        try await context.database.get(Person.self, context.number("id"))
    }
}
