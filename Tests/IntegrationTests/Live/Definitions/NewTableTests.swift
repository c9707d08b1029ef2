import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema = """
    CREATE TABLE place (id integer PRIMARY KEY, name text);
    CREATE TABLE city (PRIMARY KEY (id)) INHERITS (place);
    INSERT INTO place VALUES (1, 'a');
    """

/// Tables that are made while others are followed.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct NewTableTests {
    @Test(arguments: [true, false]) func rowsOfANewChildHaveIDsByItsName(hasEventTriggers: Bool) async throws {
        try await withLive("place") { database, context, other in
            if !hasEventTriggers {
                try await other.query("DROP EVENT TRIGGER kindred_tracking_ddl")
                try await other.query("DROP EVENT TRIGGER kindred_tracking_dropped")
            }
            var list = try await context.fetch("place").sorted("id").live().makeAsyncIterator()
            #expect(try await list.update().integers() == [1])
            try await other.withTransaction { _ in
                try await other.query("CREATE TABLE village (PRIMARY KEY (id)) INHERITS (place)")
                try await other.query("INSERT INTO village VALUES (2, 'b')")
            }
            var objects = try await list.update().objects
            while objects.count < 2 { objects = try await list.update().objects }
            #expect(objects[1].objectID?.uri == "kindred:/public/place?id=2&tableoid=public.village")
            let found = try await database.makeContext().get(uri: objects[1].objectID?.uri ?? "")
            #expect(found["name"] == "b")
            try await other.query("UPDATE ONLY village SET name = 'c'")
            #expect(try await list.update().values("name") == ["a", "c"])
        }
    }

    /// Reading the model takes 30 times as long as the other step where there are 1,000 tables.
    @Test func aTableThatConcernsNoOtherDoesNotMakeTheModelBeRead() async throws {
        try await withLive("place") { database, context, other in
            var list = try await context.fetch("place").live().makeAsyncIterator()
            _ = try await list.update()
            try await database.tracking.catchUp()
            let model = database.runtime
            for number in 1...3 {
                try await other.runScript("CREATE TABLE stranger_\(number) (id integer PRIMARY KEY, text text)")
                try await other.runScript("CREATE INDEX ON stranger_\(number) (text)")
                try await other.query("INSERT INTO place VALUES (\(Int32(number) + 10), 'x')")
                #expect(try await list.update().objects.count == number + 1)
            }
            try await database.tracking.catchUp()
            #expect(database.runtime === model)
            // A table that refers to another concerns it.
            try await other.query("CREATE TABLE visit (id integer PRIMARY KEY, place_id integer REFERENCES place)")
            try await eventually("the model has the table") {
                database.schema.entities.contains { $0.name.name == "visit" }
            }
            // And so does a view.
            try await other.query("CREATE VIEW place_name AS SELECT name FROM place")
            try await eventually("the model has the view") {
                database.schema.entities.contains { $0.name.name == "place_name" }
            }
        }
    }

    @Test func aProgramThatFollowsTheSchemaHearsOfEveryTable() async throws {
        try await withLive("place") { database, _, other in
            let changes = Task {
                var changes = database.schemaChanges.makeAsyncIterator()
                return try await changes.next()
            }
            try await eventually("the sequence has begun") { database.tracking.metrics.subscribers == 1 }
            try await other.query("CREATE TABLE stranger (id integer PRIMARY KEY)")
            #expect(try await changes.value?.map(\.name) == ["stranger"])
        }
    }
}
