import EmbeddedPostgres
import Kindred
import KindredLive
import KindredScripts
package import KindredTerminal

/// The tour of the demo database.
///
/// `kindred demo`, and `bin/demo`, which builds no more of the package than the tour needs.
package struct Tour {
    private let database: Database
    private let narrator: Narrator

    /// Starts a private server with the demo database, and walks through.
    ///
    /// - Throws: `EmbeddedPostgresError` if no server can be started.
    package static func run(in terminal: Terminal) async throws {
        terminal.print("Starting a private PostgreSQL server …")
        try await EmbeddedPostgres.withServer { server in
            let client = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
            try await client.lend { try await $0.runScript(Scripts.demo) }
            let database = try await Database.connect(server.uri)
            do {
                try await Tour(database: database, narrator: Narrator(terminal: terminal)).walk()
            } catch {
                await database.close()
                throw error
            }
            await database.close()
        }
    }

    private func walk() async throws {
        try inferred()
        let context = database.makeContext()
        let person = try await reading(context)
        try await writing(context, person)
        try await manyToMany(context, person)
        try await loops(context)
        try await transactions(context, person)
        try await following(context, person)
        narrator.chapter(
            "That was it", "The server and its data are gone now. `kindred inspect` shows a database of yours.")
    }

    private func inferred() throws {
        let schema = database.schema
        let count = schema.entities.reduce(0) { $0 + $1.relationships.count }
        narrator.chapter(
            "What was inferred",
            """
            \(schema.entities.count) entities with \(count) relationships, read from the catalog in one round trip. \
            Nothing of it is declared in Swift. Those of person:
            """
        )
        var table = TextTable()
        for relationship in try schema.entity(named: "person").relationships {
            table.add([
                (relationship.name, .green), (relationship.isToMany ? "many" : "one", nil),
                ("\(relationship.destination.name).\(relationship.inverse)", .cyan),
                (relationship.helper.map { "through \($0.entity.name)" } ?? relationship.foreignKey ?? "", .faint),
            ])
        }
        for line in table.lines(indentation: 2, in: narrator.terminal) { narrator.terminal.print(line) }
    }

    private func reading(_ context: DatabaseContext) async throws -> DatabaseObject {
        narrator.chapter("Objects by key", "A row is an object; its attributes are read without I/O.")
        let person = try await narrator.step(
            #"let person = try await context.fetch("person").where("surname = %@", "Smith").one()"#
        ) {
            try await context.fetch("person").where("surname = %@", "Smith").one()
        }
        let name = try await narrator.step(#"person["firstname"]"#) { person["firstname"] }
        narrator.result(name?.description ?? "NULL")
        let emails = try await narrator.step(
            """
            let emails = try await person.set(forKey: "emailSet")
            for try await email in emails { print(email["address"] ?? "-") }
            """
        ) {
            try await person.set(forKey: "emailSet").objects
        }
        for email in emails { narrator.result(email["address"]?.description ?? "-") }
        return person
    }

    private func writing(_ context: DatabaseContext, _ person: DatabaseObject) async throws {
        narrator.chapter(
            "Sets write through", "Each change is in the database when the call returns, and both sides know.")
        let email = try await narrator.step(
            #"let email = try await context.create("email", ["address": "new@example.org"])"#
        ) {
            try await context.create("email", ["address": "new@example.org"])
        }
        let emails = try await person.set(forKey: "emailSet")
        try await narrator.step("try await emails.insert(email)") { try await emails.insert(email) }
        let owner = try await narrator.step(#"try await email.object(forKey: "person")?["surname"]"#) {
            try await email.object(forKey: "person")?["surname"]
        }
        narrator.result("\(owner?.description ?? "nobody"), one of \(try await emails.count) addresses now")
        try await narrator.step(#"try await email.setValue(nil, forKey: "person")"#) {
            try await email.setValue(nil, forKey: "person")
        }
        narrator.result("\(try await emails.count) addresses are left")
    }

    private func manyToMany(_ context: DatabaseContext, _ person: DatabaseObject) async throws {
        narrator.chapter("Many to many", "The helper table stays out of sight; only the difference is written.")
        let titles = try await narrator.step(
            #"let titles = try await context.fetch("title").sorted("name").limit(2).all()"#
        ) {
            try await context.fetch("title").sorted("name").limit(2).all()
        }
        try await narrator.step(#"try await person.setValue(titles, forKey: "titles")"#) {
            try await person.setValue(titles, forKey: "titles")
        }
        narrator.result(titles.compactMap { $0["name"]?.description }.joined(separator: ", "))
    }

    private func loops(_ context: DatabaseContext) async throws {
        narrator.chapter("No query in a loop", "Objects that were fetched together load a relationship together.")
        let counts = try await narrator.step(
            """
            for book in try await context.fetch("book").sorted("title").limit(50).all() {
                for try await author in try await book.set(forKey: "authors") { … }
                try await book.object(forKey: "category")
            }
            """
        ) {
            var authors = 0
            var categories: Set<DatabaseObject> = []
            for book in try await context.fetch("book").sorted("title").limit(50).all() {
                authors += try await book.set(forKey: "authors").objects.count
                if let category = try await book.object(forKey: "category") { categories.insert(category) }
            }
            return (authors, categories.count)
        }
        narrator.result("\(counts.0) authors, \(counts.1) categories")
    }

    private func transactions(_ context: DatabaseContext, _ person: DatabaseObject) async throws {
        struct ChangedMyMind: Error {}
        narrator.chapter("Transactions", "When one fails, rows and objects are back where they were.")
        try await narrator.step(
            """
            try await context.transaction {
                try await person.setValue("Smythe", forKey: "surname")
                throw ChangedMyMind()
            }
            """
        ) {
            do {
                try await context.transaction {
                    try await person.setValue("Smythe", forKey: "surname")
                    throw ChangedMyMind()
                }
            } catch is ChangedMyMind {
                return
            }
        }
        narrator.result("person[\"surname\"] is \(person["surname"]?.description ?? "NULL")")
        narrator.chapter("Clear errors", "A wrong key names the nearest ones, before anything is sent.")
        let message = try await narrator.step(#"try await person.value(forKey: "emailset")"#) {
            do {
                _ = try await person.value(forKey: "emailset")
                return ""
            } catch let error as KindredError {
                return error.message
            }
        }
        narrator.result(message)
    }

    private func following(_ context: DatabaseContext, _ person: DatabaseObject) async throws {
        narrator.chapter(
            "Live", "A request gives its result again when anyone has changed it, with the difference to the last.")
        try await narrator.step(
            """
            try await database.tracking.install()
            try await database.tracking.enable("person", "email")
            """
        ) {
            // A detached task: a step prints the statements of its own task, and the script of the installation is
            // long.
            try await Task.detached { [database] in
                try await database.tracking.install()
                try await database.tracking.enable("person", "email")
            }.value
        }
        let emails = try await narrator.step(
            #"let emails = try await context.fetch("email").where("person = %@", person).sorted("address").live()"#
        ) {
            try await context.fetch("email").where("person = %@", person).sorted("address").live()
        }
        var updates = emails.makeAsyncIterator()
        let first = try await updates.next()
        narrator.result("\(first?.objects.count ?? 0) addresses")
        // Another connection, as psql has one.
        try await narrator.step("psql> INSERT INTO email (address, person_id) VALUES ('live@example.org', …)") {
            try await Task.detached { [database, id = person["id"]] in
                _ = try await database.query(
                    "INSERT INTO email (address, person_id) VALUES ('live@example.org', \(id))")
            }.value
        }
        let found = try await narrator.step("for try await update in emails { … update.insertions … }") {
            guard let update = try await updates.next() else { return [String]() }
            return update.insertions.map { "+ \(update.objects[$0]["address"]?.description ?? "-"), at \($0)" }
        }
        for text in found { narrator.result(text) }
    }
}
