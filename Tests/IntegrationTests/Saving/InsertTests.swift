import Kindred
import KindredTesting
import Testing

/// New objects that are put together in memory and stored by one save.
@Suite struct InsertTests {
    private static let school = """
        CREATE TABLE class (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
        CREATE TABLE student (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
            joined date NOT NULL DEFAULT '2026-01-01', class_id integer NOT NULL REFERENCES class);
        CREATE TABLE course (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL);
        CREATE TABLE attendance (
            student_id integer CONSTRAINT courses REFERENCES student,
            course_id integer CONSTRAINT students REFERENCES course, grade integer,
            PRIMARY KEY (student_id, course_id));
        """

    @Test(.database(.sql(school))) func aGraphOfNewObjectsIsStoredByOneSave() async throws {
        try await withDatabase { database, context, other in
            let student = try context.add("student", ["name": "Ann"])
            let first = try context.add("class", ["name": "5b"])
            let courses = try ["Art", "Latin"].map { try context.add("course", ["title": $0]) }
            try await expectStatements([]) { () async throws in
                try await student.setValue(first, forKey: "class")
                try await student.set(forKey: "courses").formUnion(courses)
                #expect(try await student.object(forKey: "class") === first)
                #expect(try await first.set(forKey: "studentSet").objects == [student])
                #expect(try await student.set(forKey: "courses").objects == courses)
                #expect(try await courses[1].set(forKey: "students").contains(student))
                #expect(student.isInserted && student.objectID?.isTemporary == true && student["id"] == nil)
                #expect(student["name"] == "Ann" && student["joined"] == nil)
            }
            try await expectStatements(["INSERT", "INSERT", "INSERT", "INSERT"]) { try await context.save() }
            #expect(!context.hasStagedChanges && !student.isInserted)
            #expect(student["id"] == 1 && student["class_id"] == first["id"])
            #expect(student["joined"]?.description == "2026-01-01")
            try await expectStatements([]) { () async throws in
                #expect(try await first.set(forKey: "studentSet").objects == [student])
                #expect(try await student.set(forKey: "courses").objects == courses)
                #expect(try await courses[1].set(forKey: "students").objects == [student])
            }
            #expect(try await other.value("SELECT count(*) FROM attendance WHERE student_id = 1") == 2)
            #expect(try await context.fetch("student").one() === student)
        }
    }

    @Test(.database(.sql(school))) func tenThousandNewObjectsAreOneStatementAndOneForTheLastOfThem() async throws {
        try await withDatabase { database, context, other in
            let names = (1...10_000).map { "s\($0)" }
            let room = try context.add("class", ["name": "all"])
            let students = try names.map { try context.add("student", ["name": $0, "class": room]) }
            try await expectStatements(["INSERT", "INSERT", "INSERT"]) { try await context.save() }
            let stored = try await other.values("SELECT name FROM student ORDER BY id")
            #expect(stored == names.map { .string($0) })
            #expect(students.map { $0["id"] } == (1...10_000).map { .integer($0) })
            #expect(try await room.set(forKey: "studentSet").count == 10_000)
        }
    }

    @Test(.database(.sql(referenceSchema))) func newAndStoredObjectsMix() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let email = try await context.fetch("email").where("id = 1").one()
            let ann = try await people[0].set(forKey: "emailSet")
            let new = try context.add("email", ["address": "new", "person": people[0]])
            #expect(try await ann.contains(new))
            #expect(try await ann.count == 3)
            let dora = try context.add("person", ["firstname": "Dora"])
            try await email.setValue(dora, forKey: "person")
            #expect(try await ann.contains(email) == false)
            #expect(try await dora.set(forKey: "emailSet").objects == [email])
            try await dora.set(forKey: "titles").insert(try await context.fetch("title").where("id = 3").one())
            try await ann.insert(try context.add("email", ["address": "third"]))
            #expect(try await ann.count == 3)
            try await context.save()
            #expect(dora["surname"] == "Doe")
            #expect(try await other.value("SELECT person_id FROM email WHERE id = 1") == dora["id"])
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 1") == 3)
            #expect(try await other.value("SELECT count(*) FROM person_title_rel WHERE title_id = 3") == 1)
            #expect(try await ann.count == 3)
        }
    }

    @Test(.database(.sql(referenceSchema))) func leavingANewObjectIsStagedToo() async throws {
        try await withDatabase { database, context, other in
            let person = try context.add("person")
            let (stored, new) = (
                try await context.fetch("email").where("id = 1").one(), try context.add("email", ["address": "n"])
            )
            let emails = try await person.set(forKey: "emailSet")
            let titles = try await person.set(forKey: "titles")
            let title = try await context.fetch("title").where("id = 1").one()
            try await expectStatements([]) { () async throws in
                try await emails.formUnion([stored, new])
                #expect(try await Set(emails.objects) == [stored, new])
                try await emails.remove(new)
                #expect(new.hasStagedChanges)
                #expect(try await new.object(forKey: "person") == nil)
                try await emails.set([new])
                #expect(try await emails.objects == [new])
                try await emails.removeAll()
                try await titles.insert(title)
                try await titles.remove(title)
                #expect(try await emails.isEmpty)
                #expect(try await titles.isEmpty)
            }
            try await emails.insert(stored)
            stored.rollback()
            #expect(try await emails.isEmpty)
            #expect(try await stored.object(forKey: "person")?["id"] == 1)
            try await emails.insert(new)
            person.rollback()
            #expect(person.isDeleted && !person.isInserted)
            #expect(try await new.object(forKey: "person") == nil)
            await expectError(.objectDiscarded) { try await emails.insert(new) }
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM person") == 3)
            #expect(new["id"] == 100 && new["person_id"] == nil)
        }
    }

    private static let circles = """
        CREATE TABLE node (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text, parent_id integer REFERENCES node);
        CREATE TABLE team (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text);
        CREATE TABLE player (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, team_id integer NOT NULL REFERENCES team);
        ALTER TABLE team ADD captain_id integer REFERENCES player;
        CREATE TABLE egg (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
        CREATE TABLE hen (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, egg_id integer NOT NULL REFERENCES egg);
        ALTER TABLE egg ADD hen_id integer NOT NULL REFERENCES hen;
        """

    @Test(.database(.sql(circles))) func circlesAreClosedWithAnUpdate() async throws {
        try await withDatabase { database, context, other in
            let team = try context.add("team", ["name": "Reds"])
            let players = try (0..<3).map { _ in try context.add("player", ["team": team]) }
            try await team.setValue(players[1], forKey: "captain")
            try await expectStatements(["INSERT", "INSERT", "UPDATE"]) { try await context.save() }
            #expect(try await other.value("SELECT captain_id FROM team") == players[1]["id"])
            #expect(try await team.object(forKey: "captain") === players[1])
            let node = try context.add("node")
            try await node.setValue(node, forKey: "parent")
            try await context.save()
            #expect(node["parent_id"] == node["id"])
            let (egg, hen) = (try context.add("egg"), try context.add("hen"))
            try await egg.setValue(hen, forKey: "hen")
            try await hen.setValue(egg, forKey: "egg")
            await expectError(.requiredRelationship) { try await context.save() }
            #expect(egg.isInserted && context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(circles))) func treesAreStoredByLevelsAndChainsAreNot() async throws {
        try await withDatabase { database, context, other in
            let root = try context.add("node", ["name": "root"])
            for _ in 0..<5 {
                let child = try context.add("node", ["name": "child", "parent": root])
                for _ in 0..<5 { try context.add("node", ["name": "leaf", "parent": child]) }
            }
            try await expectStatements(["INSERT", "INSERT", "INSERT"]) { try await context.save() }
            let counts = try await other.values(
                "SELECT count(*) FROM node c LEFT JOIN node p ON p.id = c.parent_id GROUP BY p.name ORDER BY 1")
            #expect(counts == [1, 5, 25])
            var last: DatabaseObject?
            for _ in 0..<200 { last = try context.add("node", ["name": "link", "parent": last]) }
            let (_, recorder) = try await recordingStatements { try await context.save() }
            #expect(recorder.statements.count < 12)
            let linked = try await other.value("SELECT count(*) FROM node WHERE name = 'link' AND parent_id = id - 1")
            #expect(linked == 199)
        }
    }

    @Test(.database(.sql(circles))) func keysThatAreGivenOrderTheRowsToo() async throws {
        try await withDatabase { database, context, other in
            try context.add("player", ["id": 1, "team_id": 7])
            try context.add("team", ["id": 7])
            try await context.save()
            #expect(try await other.value("SELECT team_id FROM player") == 7)
        }
    }

    private static let triggers = """
        CREATE TABLE item (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text);
        CREATE FUNCTION choose() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.name = 'skip' THEN RETURN NULL; END IF;
            NEW.name := upper(NEW.name);
            RETURN NEW;
        END $$;
        CREATE TRIGGER choose BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION choose();
        """

    @Test(.database(.sql(triggers))) func aTriggerThatSkipsARowFailsTheSave() async throws {
        try await withDatabase { database, context, other in
            let items = try ["a", "skip", "b"].map { try context.add("item", ["name": $0]) }
            await expectError(.constraintViolation) { try await context.save() }
            #expect(try await other.value("SELECT count(*) FROM item") == 0)
            #expect(items.filter { !$0.isInserted } == [])
            items[1]["name"] = "c"
            try await context.save()
            #expect(items.map { $0["name"] } == ["A", "C", "B"])
        }
    }

    @Test(.database(.sql(triggers))) func rowsWithoutValuesAreStored() async throws {
        try await withDatabase { database, context, other in
            let items = try (0..<3).map { _ in try context.add("item") }
            try await expectStatements(["INSERT"]) { try await context.save() }
            #expect(Set(items.map { $0["id"] }).count == 3)
            #expect(try await other.value("SELECT count(*) FROM item") == 3)
        }
    }

    @Test(.database(.sql(school))) func aRefusedSaveLeavesNewObjectsNew() async throws {
        try await withDatabase { database, context, other in
            let room = try context.add("class", ["name": "5b"])
            let student = try context.add("student", ["name": "Ann", "class": room])
            let course = try context.add("course")
            try await course.set(forKey: "students").insert(student)
            await #expect(throws: KindredError.self) { try await context.save() }
            #expect(room.isInserted && student.isInserted && room["id"] == nil && student["class_id"] == nil)
            #expect(try await room.set(forKey: "studentSet").objects == [student])
            #expect(try await student.set(forKey: "courses").objects == [course])
            course["title"] = "Art"
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM attendance") == 1)
            #expect(try await student.set(forKey: "courses").objects == [course])
        }
    }

    @Test(.database(.sql(school))) func oneObjectIsSavedWithTheNewOnesItPointsTo() async throws {
        try await withDatabase { database, context, other in
            let room = try context.add("class", ["name": "5b"])
            let students = try ["Ann", "Bob"].map { try context.add("student", ["name": $0, "class": room]) }
            let course = try context.add("course", ["title": "Art"])
            try await course.set(forKey: "students").formUnion(students)
            try await students[0].save()
            #expect(!room.isInserted && !students[0].isInserted && students[1].isInserted && course.isInserted)
            #expect(try await room.set(forKey: "studentSet").objects == students)
            #expect(try await course.set(forKey: "students").objects == students)
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM attendance") == 2)
            #expect(try await course.set(forKey: "students").objects == students)
        }
    }

    @Test(.database(.sql(school))) func aFailedTransactionTakesNewObjectsBack() async throws {
        struct Undone: Error {}
        try await withDatabase { database, context, other in
            let room = try context.add("class", ["name": "5b"])
            var student: DatabaseObject?
            await #expect(throws: Undone.self) { () async throws in
                try await context.transaction {
                    student = try context.add("student", ["name": "Ann", "class": room])
                    try await context.save()
                    #expect(room["id"] != nil)
                    throw Undone()
                }
            }
            #expect(student?.isDeleted == true)
            #expect(room.isInserted && room["id"] == nil && context.hasStagedChanges)
            #expect(try await room.set(forKey: "studentSet").isEmpty)
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM class") == 1)
        }
    }

    @Test(.database(.sql(oneToOneSchema))) func oneToOnePartnersChangeWithNewObjects() async throws {
        try await withDatabase { database, context, other in
            let smith = try await context.fetch("person").where("id = 1").one()
            let email = try await context.fetch("email").where("id = 1").one()
            let new = try context.add("email", ["id": 9, "address": "new"])
            try await smith.setValue(new, forKey: "email")
            #expect(try await smith.object(forKey: "email") === new)
            #expect(try await new.object(forKey: "person") === smith)
            #expect(try await email.object(forKey: "person") == nil)
            try await context.save()
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 1") == [9])
            #expect(try await smith.object(forKey: "email") === new)
        }
    }
}
