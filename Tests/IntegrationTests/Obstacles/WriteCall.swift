import Kindred
import Testing

/// A public call that writes, and what the database has when it succeeds.
struct WriteCall: Sendable {
    let name: String
    /// Its operation on the rows with the obstacles.
    let operation: String
    /// A condition that holds once the call has done everything.
    let effect: String
    /// Returns the objects that it made.
    let run: @Sendable (ObstacleWorld) async throws -> [DatabaseObject]

    init(
        _ name: String, _ operation: String, _ effect: String,
        _ run: @escaping @Sendable (ObstacleWorld) async throws -> [DatabaseObject]
    ) {
        (self.name, self.operation, self.effect, self.run) = (name, operation, effect, run)
    }

    /// A call without new objects.
    private static func on(
        _ name: String, _ operation: String, _ effect: String,
        _ run: @escaping @Sendable (ObstacleWorld) async throws -> Void
    ) -> WriteCall {
        WriteCall(name, operation, effect) {
            try await run($0)
            return []
        }
    }

    static let all: [WriteCall] = rows + members + pairs + partners + orders + saves

    private static let rows: [WriteCall] = [
        WriteCall("create", "INSERT", "EXISTS (SELECT FROM place WHERE name = 'b' AND owner_id = 2)") { world in
            [
                try await world.context.create(
                    "place", ["id": 9, "name": "b", "owner": try world["owner", 2], "position": 9])
            ]
        },
        WriteCall(
            "upsert(on:)", "INSERT",
            // Of an existing row a trigger decides the values, as after setValue.
            "(SELECT count(*) = 3 FROM item WHERE name = 'b' OR name IN ('c', 'f') AND mark = 'new')"
        ) { world in
            let rows: [[String: (any PropertyValue)?]] = ["b", "c", "f"].map { ["name": $0, "mark": "new"] }
            return try await world.context.upsert("item", rows, on: "name")
        },
        WriteCall(
            "create(unlessExists:)", "", "(SELECT count(*) = 3 FROM item WHERE name IN ('b', 'c', 'f'))"
        ) { world in
            let rows: [[String: (any PropertyValue)?]] = ["b", "c", "f"].map { ["name": $0, "mark": "new"] }
            return try await world.context.create("item", rows, unlessExists: "name")
        },
        on("setValue", "UPDATE", "true") { try await $0["item", 2].setValue("new", forKey: "mark") },
        on("setValues", "UPDATE", "true") {
            try await $0["item", 2].setValues(["mark": "new", "owner": try $0["owner", 2]])
        },
        on("delete one", "DELETE", "NOT EXISTS (SELECT FROM item WHERE name = 'b')") {
            try await $0.context.delete(try $0["item", 2])
        },
        on("delete several", "DELETE", "NOT EXISTS (SELECT FROM item)") { world in
            try await world.context.delete(try (1...3).map { try world["item", $0] })
        },
        on("delete of two entities", "DELETE", "NOT EXISTS (SELECT FROM item) AND NOT EXISTS (SELECT FROM profile)") {
            world in
            try await world.context.delete(
                try (1...3).map { try world["item", $0] } + (1...3).map { try world["profile", $0] })
        },
    ]

    private static let members: [WriteCall] = [
        on("insert", "UPDATE", "EXISTS (SELECT FROM item WHERE name = 'b' AND owner_id = 2)") {
            try await $0["owner", 2].set(forKey: "itemSet").insert(try $0["item", 2])
        },
        on("formUnion", "UPDATE", "(SELECT count(*) = 3 FROM item WHERE owner_id = 2)") { world in
            try await world["owner", 2].set(forKey: "itemSet").formUnion(try (1...3).map { try world["item", $0] })
        },
        on("remove", "UPDATE", "EXISTS (SELECT FROM item WHERE name = 'b' AND owner_id IS NULL)") {
            try await $0["owner", 1].set(forKey: "itemSet").remove(try $0["item", 2])
        },
        on("subtract", "UPDATE", "(SELECT count(*) = 2 FROM item WHERE owner_id IS NULL)") { world in
            try await world["owner", 1].set(forKey: "itemSet").subtract(try (1...2).map { try world["item", $0] })
        },
        on("removeAll", "UPDATE", "(SELECT count(*) = 3 FROM item WHERE owner_id IS NULL)") {
            try await $0["owner", 1].set(forKey: "itemSet").removeAll()
        },
        on("set, others leave", "UPDATE", "(SELECT count(*) = 2 FROM item WHERE owner_id IS NULL)") {
            try await $0["owner", 1].set(forKey: "itemSet").set([try $0["item", 1]])
        },
        on("set, others join", "UPDATE", "(SELECT count(*) = 2 FROM item WHERE owner_id = 2)") {
            try await $0["owner", 2].set(forKey: "itemSet").set([try $0["item", 2], try $0["item", 3]])
        },
        on("setValue of a set", "UPDATE", "NOT EXISTS (SELECT FROM item WHERE owner_id = 1)") {
            try await $0["owner", 1].setValue(nil, forKey: "itemSet")
        },
    ]

    private static let pairs: [WriteCall] = [
        on("insert of a pair", "INSERT", "EXISTS (SELECT FROM owner_tag WHERE (owner_id, tag_id) = (2, 2))") {
            try await $0["owner", 2].set(forKey: "tagSet").insert(try $0["tag", 2])
        },
        on("insert(through:)", "INSERT", "EXISTS (SELECT FROM owner_tag WHERE owner_id = 2 AND mark = 'new')") {
            try await $0["owner", 2].set(forKey: "tagSet").insert(try $0["tag", 2], through: ["mark": "new"])
        },
        on("formUnion of pairs", "INSERT", "(SELECT count(*) = 2 FROM owner_tag WHERE owner_id = 2)") {
            try await $0["owner", 2].set(forKey: "tagSet").formUnion([try $0["tag", 1], try $0["tag", 2]])
        },
        on("formUnion of known pairs", "", "(SELECT count(*) = 2 FROM owner_tag WHERE owner_id = 1)") {
            try await $0["owner", 1].set(forKey: "tagSet").formUnion([try $0["tag", 1], try $0["tag", 2]])
        },
        on("remove of a pair", "DELETE", "NOT EXISTS (SELECT FROM owner_tag WHERE tag_id = 2)") {
            try await $0["owner", 1].set(forKey: "tagSet").remove(try $0["tag", 2])
        },
        on("subtract of pairs", "DELETE", "NOT EXISTS (SELECT FROM owner_tag)") {
            try await $0["owner", 1].set(forKey: "tagSet").subtract([try $0["tag", 1], try $0["tag", 2]])
        },
        on("removeAll of pairs", "DELETE", "NOT EXISTS (SELECT FROM owner_tag)") {
            try await $0["owner", 1].set(forKey: "tagSet").removeAll()
        },
        on("set, pairs leave", "DELETE", "(SELECT array_agg(tag_id) = '{3}' FROM owner_tag)") {
            try await $0["owner", 1].set(forKey: "tagSet").set([try $0["tag", 3]])
        },
        on("set, pairs join", "INSERT", "(SELECT count(*) = 2 FROM owner_tag WHERE owner_id = 2)") {
            try await $0["owner", 2].set(forKey: "tagSet").set([try $0["tag", 1], try $0["tag", 2]])
        },
    ]

    private static let partners: [WriteCall] = [
        on("one-to-one set", "UPDATE", "EXISTS (SELECT FROM profile WHERE name = 'b' AND owner_id = 1)") {
            try await $0["owner", 1].setValue(try $0["profile", 2], forKey: "profile")
        },
        on("one-to-one displaced", "UPDATE", "EXISTS (SELECT FROM profile WHERE name = 'c' AND owner_id = 2)") {
            try await $0["owner", 2].setValue(try $0["profile", 3], forKey: "profile")
        },
        on("one-to-one nil", "UPDATE", "EXISTS (SELECT FROM profile WHERE name = 'b' AND owner_id IS NULL)") {
            try await $0["owner", 2].setValue(nil, forKey: "profile")
        },
        on("one-to-one from its other side", "UPDATE", "EXISTS (SELECT FROM profile WHERE name = 'b' AND owner_id = 3)")
        {
            try await $0["profile", 2].setValue(try $0["owner", 3], forKey: "owner")
        },
    ]

    private static let orders: [WriteCall] = [
        on("append", "UPDATE", "EXISTS (SELECT FROM place WHERE name = 'b' AND owner_id = 2)") {
            try await $0["owner", 2].set(forKey: "places").append(try $0["place", 2])
        },
        on("move", "", "(SELECT array_agg(name ORDER BY position) = '{b,a,c}' FROM place)") {
            try await $0["owner", 1].set(forKey: "places").move(from: 1, to: 0)
        },
        on("remove(at:)", "UPDATE", "EXISTS (SELECT FROM place WHERE name = 'b' AND owner_id IS NULL)") {
            _ = try await $0["owner", 1].set(forKey: "places").remove(at: 1)
        },
        on(
            "set of an order", "UPDATE",
            "(SELECT array_agg(name ORDER BY position) = '{c,a}' FROM place WHERE owner_id = 1)"
        ) {
            try await $0["owner", 1].set(forKey: "places").set([try $0["place", 3], try $0["place", 1]])
        },
        on("removeAll of an order", "UPDATE", "NOT EXISTS (SELECT FROM place WHERE owner_id = 1)") {
            try await $0["owner", 1].set(forKey: "places").removeAll()
        },
        on("append of a pair", "INSERT", "EXISTS (SELECT FROM owner_step WHERE (owner_id, step_id) = (2, 2))") {
            try await $0["owner", 2].set(forKey: "steps").append(try $0["step", 2])
        },
        on(
            "move of a pair", "",
            "(SELECT array_agg(step_id ORDER BY position) = '{2,1,3}' FROM owner_step WHERE owner_id = 1)"
        ) {
            try await $0["owner", 1].set(forKey: "steps").move(from: 1, to: 0)
        },
        on(
            "set of an order of pairs", "DELETE",
            "(SELECT array_agg(step_id ORDER BY position) = '{3,1}' FROM owner_step WHERE owner_id = 1)"
        ) {
            try await $0["owner", 1].set(forKey: "steps").set([try $0["step", 3], try $0["step", 1]])
        },
    ]

    private static let saves: [WriteCall] = [
        WriteCall("save of new objects", "INSERT", "(SELECT count(*) = 2 FROM place WHERE owner_id = 2)") { world in
            let new = try [(8, "f"), (9, "b")].map {
                try world.context.add(
                    "place", ["id": $0, "name": $1, "owner": try world["owner", 2], "position": $0])
            }
            try await world.context.save()
            return new
        },
        on("save of changes", "UPDATE", "true") { world in
            for number in 1...3 { try world["item", number]["mark"] = "new" }
            try await world.context.save()
        },
        on("save of deletions", "DELETE", "NOT EXISTS (SELECT FROM item)") { world in
            for number in 1...3 { try world.context.stageDeletion(of: try world["item", number]) }
            try await world.context.save()
        },
        WriteCall("save of pairs", "INSERT", "EXISTS (SELECT FROM owner_tag WHERE tag_id = 2 AND owner_id = 9)") {
            world in
            let new = try world.context.add("owner", ["id": 9])
            try await new.set(forKey: "tagSet").insert(try world["tag", 2])
            try await world.context.save()
            return []
        },
    ]
}
