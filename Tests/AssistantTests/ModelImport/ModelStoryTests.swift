import Kindred
import KindredModelImport
import KindredTesting
import Testing

/// The stories that the models are told with, by the library on the tables that were made of them.
@Suite struct ModelStoryTests {
    private func code(_ body: () async throws -> Void) async -> KindredError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? KindredError)?.code
        }
    }

    @Test(.database) func aUnitIsDeniedItsDeletion() async throws {
        let context = try await importModel(ModelFixture.model("Grocery")).makeContext()
        let kg = try context.add("Unit", ["name": "Kg"])
        try context.add("Item", ["name": "Oranges", "unit": kg])
        try await context.save()
        #expect(await code { try await context.delete(kg) } == .deletionDenied)
        let oranges = try await context.fetch("Item").one()
        #expect(try await oranges.object(forKey: "unit") === kg)
        #expect(try await context.fetch("Item").where("quantity = 1 AND collected = FALSE").count() == 1)
        try await context.delete(oranges)
        try await context.delete(kg)
        #expect(try await context.fetch("Unit").count() == 0)
    }

    @Test(.database) func aUnitTakesItsItemsAlong() async throws {
        let model = try ModelFixture.model("Grocery", version: "Grocery Cascade")
        let context = try await importModel(model).makeContext()
        let kg = try context.add("Unit", ["name": "Kg"])
        try context.add("Item", ["name": "Oranges", "unit": kg])
        try await context.save()
        try await context.delete(kg)
        #expect(try await context.fetch("Item").count() == 0)
    }

    @Test(.database) func aUnitIsForgottenByItsItems() async throws {
        let model = try ModelFixture.model("Grocery", version: "Grocery Nullify")
        let context = try await importModel(model).makeContext()
        let kg = try context.add("Unit", ["name": "Kg"])
        let oranges = try context.add("Item", ["name": "Oranges", "unit": kg])
        try await context.save()
        try await context.delete(kg)
        #expect(try await oranges.object(forKey: "unit") == nil && oranges["unit_id"] == nil)
    }

    @Test(.database) func withoutAnActionTheDatabaseDecides() async throws {
        let model = try ModelFixture.model("Grocery", version: "Grocery No Action")
        let context = try await importModel(model).makeContext()
        let kg = try context.add("Unit", ["name": "Kg"])
        try context.add("Item", ["name": "Oranges", "unit": kg])
        try await context.save()
        #expect(await code { try await context.delete(kg) } == .deletionDenied)
    }

    @Test(.database) func aPhotoTakesItsAlbumAlong() async throws {
        let context = try await importModel(ModelFixture.model("Album")).makeContext()
        let album = try context.add("Album", ["title": "Summer"])
        let photos = try (1...3).map { try context.add("Photo", ["caption": "no \($0)", "album": album]) }
        try await context.save()
        #expect(try await album.set(forKey: "photos").count == 3)
        try await context.delete(photos[0])
        #expect(album.isDeleted && photos.allSatisfy(\.isDeleted))
        #expect(try await context.fetch("Photo").count() == 0)
    }

    @Test(.database) func aStudentWithAClassAndTwoCoursesIsStoredByOneSave() async throws {
        let context = try await importModel(ModelFixture.model("School")).makeContext()
        let clazz = try context.add("Clazz", ["name": "1a"])
        let courses = try ["Art", "Music"].map { try context.add("Course", ["name": $0]) }
        let student = try context.add("Student", ["name": "Ann", "clazz": clazz, "courses": courses])
        try await context.save()
        #expect(try await clazz.set(forKey: "students").objects == [student])
        #expect(try await courses[1].set(forKey: "students").objects == [student])
        let other = try await TestDatabase.current.connect().makeContext()
        let found = try await other.fetch("Student").where("clazz.name = %@ AND ANY courses.name = %@", "1a", "Music")
            .one()
        #expect(try await found.set(forKey: "courses").count == 2)
        #expect(await code { try await context.delete(clazz) } == .deletionDenied)
        #expect(await code { try await context.create("Student", ["name": "Bob"]) } != nil)
        try await context.delete(student)
        try await context.delete(clazz)
        #expect(try await courses[0].set(forKey: "students").isEmpty)
        #expect(try await context.fetch("Course").count() == 2)
    }

    @Test(.database, arguments: ModelImportOptions.Inheritance.allCases)
    func moodsOfCountriesOfContinents(_ inheritance: ModelImportOptions.Inheritance) async throws {
        let database = try await importModel(
            ModelFixture.model("Moody"), ModelImportOptions(inheritance: inheritance))
        let context = database.makeContext()
        /// Makes a region: a row of its kind, or one of the region's table and one of its own.
        func region(_ kind: String, _ number: Int, _ values: [String: (any PropertyValue)?] = [:]) async throws
            -> DatabaseObject
        {
            var values = values
            guard inheritance == .joined else {
                values["entity"] = kind
                values["numericISO3166Code"] = number
                return try await context.create("Region", values)
            }
            values["id"] = try await context.create("Region", ["numericISO3166Code": number])["id"]
            return try await context.create(kind, values)
        }
        let europe = try await region("Continent", 150)
        let germany = try await region("Country", 276, ["continent_id": europe["id"]])
        let mood = try context.add(
            "Mood", ["colors": [1, 2, 3] as [UInt8], "date": "2024-05-01 10:00:00+00", "country": germany])
        try await context.save()
        #expect(try await germany.object(forKey: "continent") === europe)
        #expect(try await europe.set(forKey: "countries").objects == [germany])
        #expect(try await germany.set(forKey: "moods").objects == [mood])
        #expect(await code { try await context.delete(europe) } == .deletionDenied)
        // A code is unique among all regions.
        #expect(await code { _ = try await region("Country", 150) } == .constraintViolation)
        try await context.delete(germany)
        #expect(mood.isDeleted)
        try await context.delete(europe)
        // The rows of the parents go with the rows of the entities below.
        #expect(try await context.fetch("Region").count() == 0)
    }

    @Test(.database) func aDepartmentHasEmployeesAndKeepsThem() async throws {
        let context = try await importModel(ModelFixture.model("Company")).makeContext()
        // At least one employee is required.
        try context.add("Department", ["name": "Empty"])
        #expect(await code { try await context.save() } == .countOutOfRange)
        context.rollback()
        let sales = try context.add("Department", ["name": "Sales"])
        let boss = try context.add("Employee", ["name": "Ada", "department": sales])
        let clerk = try context.add(
            "Employee", ["name": "Bob", "department": sales, "manager": boss, "salary": 10])
        try await context.save()
        #expect(try await boss.set(forKey: "directReports").objects == [clerk])
        #expect(await code { try await context.delete(sales) } == .deletionDenied)
        try await context.delete(boss)
        #expect(try await clerk.object(forKey: "manager") == nil)
        #expect(await code { try await context.delete(clerk) } == .countOutOfRange)
        for (key, value) in [("name", ""), ("name", String(repeating: "x", count: 41))] {
            #expect(await code { try await sales.setValue(value, forKey: key) } == .constraintViolation, "\(value)")
        }
        #expect(await code { try await clerk.setValue(-1, forKey: "salary") } == .constraintViolation)
    }

    @Test(.database) func friendsAreFriendsOfTheirFriends() async throws {
        let context = try await importModel(ModelFixture.model("Friends")).makeContext()
        let people = try ["Ann", "Bob", "Eve"].map { try context.add("Person", ["name": $0]) }
        try await people[0].set(forKey: "friends").formUnion([people[1], people[2]])
        try await context.save()
        #expect(try await people[1].set(forKey: "friendOf").objects == [people[0]])
        #expect(try await people[1].set(forKey: "friends").isEmpty)
        try await people[1].set(forKey: "friends").insert(people[0])
        #expect(try await people[0].set(forKey: "friendOf").objects == [people[1]])
        try await context.delete(people[1])
        #expect(try await people[0].set(forKey: "friends").objects == [people[2]])
    }

    @Test(.database) func mutualFriendsAreTwoSides() async throws {
        let model = try ModelFixture.model("Friends", version: "Mutual")
        #expect(try ModelImport(model).reports.contains { $0.subject == "Person.friends" && $0.level == .changed })
        let context = try await importModel(model).makeContext()
        let people = try ["Ann", "Bob"].map { try context.add("Person", ["name": $0]) }
        try await people[0].set(forKey: "friends").insert(people[1])
        try await context.save()
        #expect(try await people[1].set(forKey: "friends_inverse").objects == [people[0]])
    }

    @Test(.database) func aPlaylistHasAnOrderAndAtMostThreeTracks() async throws {
        let context = try await importModel(ModelFixture.model("Playlist")).makeContext()
        let tracks = try (0..<4).map { try context.add("Track", ["title": "t\($0)"]) }
        let list = try context.add("Playlist", ["name": "Walk", "tracks": [tracks[2], tracks[0]]])
        try await context.save()
        let set = try await list.set(forKey: "tracks")
        try await set.insert(tracks[1], at: 1)
        #expect(try await set.objects == [tracks[2], tracks[1], tracks[0]])
        try await set.move(from: 2, to: 0)
        let other = try await TestDatabase.current.connect().makeContext()
        let found = try await other.fetch("Playlist").one().set(forKey: "tracks")
        #expect(try await found.objects.map { $0["title"]?.description } == ["t0", "t2", "t1"])
        #expect(await code { try await set.append(tracks[3]) } == .countOutOfRange)
        #expect(try await set.count == 3)
        try await context.delete(list)
        #expect(try await context.fetch("Track").count() == 1)
    }
}
