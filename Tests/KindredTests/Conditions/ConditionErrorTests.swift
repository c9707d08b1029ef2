import KindredPostgres
import Testing

@testable import Kindred

@Suite struct ConditionErrorTests {
    private func error(_ format: String, _ arguments: [ConditionArgument], entity: String = "person") throws
        -> KindredError
    {
        try #require(throws: KindredError.self) {
            var query = SelectQuery(entity: try ConditionFixture.entity(entity))
            try query.narrow(by: Condition(format: format, arguments: arguments), in: ConditionFixture.schema)
        }
    }

    @Test func unknownKeysNameTheEntityAndTheNearestKeys() throws {
        let error = try error("surnam = 'x'", [])
        #expect(error.code == .unknownKey && error.entity == "public.person" && error.key == "surnam")
        #expect(error.message == #"public.person has no key "surnam"; did you mean "surname"?"#)
        let inner = try self.error("ANY emailSet.adress = 'x'", [])
        #expect(inner.code == .unknownKey && inner.entity == "public.email" && inner.key == "adress")
        #expect(try self.error("manager.surname.x = 1", []).code == .unknownKey)
        #expect(try self.error("%K = 1", [.value("a.b\"; DROP TABLE x; --")]).code == .unknownKey)
    }

    @Test(
        arguments: [
            ("age = 'x'", [], "age is of the type integer; a string was given"),
            ("age IN {1, 'x'}", [], "age is of the type integer; a string was given"),
            ("age BETWEEN {1, 'x'}", [], "a string was given"),
            ("surname = 5", [], "surname is of the type text: an integer was given"),
            ("surname IN {5}", [], "surname is of the type text"),
            ("active = 1", [], "active is of the type boolean"),
            ("token = 'no uuid'", [], "token is of the type uuid"),
            ("born > 'yesterday'", [], "born is of the type date"),
            ("mood = 5", [], "mood is of the type mood; an integer was given"),
            ("address = 5", [], "address is of the type cube; an integer was given"),
            ("notes = '{}'", [], "notes is of the type json, which can only be compared with NULL"),
            ("surname = age", [], "surname is of the type text and cannot be compared with age"),
            ("age LIKE 'x'", [], "age is of the type integer, and LIKE needs a text"),
            ("surname LIKE 5", [], "LIKE needs a text on its right; an integer was given"),
            ("surname + 1 = 2", [], "surname cannot be used in a calculation"),
            ("age + 'x' = 2", [], "A calculation takes numbers only"),
            ("manager = 5", [], "manager is an object of public.person and is compared with objects only"),
            ("SELF = 5", [], "SELF is an object of public.person"),
            (
                "age = %@", [.object(FakeObject("person", ["id": 1]))],
                "age is of the type integer and cannot be compared with an object"
            ),
            ("manager = %@", [.object(FakeObject("email", ["id": 1]))], "one of public.email was given"),
            ("ANY emailSet = %@", [.object(FakeObject("person", ["id": 1]))], "one of public.person was given"),
            ("SELF IN %@", [.objects([FakeObject("email", ["id": 1])])], "one of public.email was given"),
            ("SELF = passport", [], "SELF is an object of public.person, and passport of public.passport"),
            ("age = {1, 2}", [], "cannot be compared with a list"),
            ("surname = %@", [.value("a\0b")], "NUL"),
            ("surname LIKE %@", [.value("a\0b")], "NUL"),
            ("1 = 'x'", [], "a string was given"),
            ("ANY tags = 5", [], "an element of tags is of the type text"),
        ] as [(String, [ConditionArgument], String)])
    func wrongTypesAreNamedBeforeAnythingIsSent(format: String, arguments: [ConditionArgument], message: String) throws
    {
        let error = try error(format, arguments)
        #expect(error.code == .wrongType, "\(error)")
        #expect(error.message.contains(message), "\(error)")
    }

    @Test(arguments: [
        ("emailSet.address = 'x'", "write ANY, ALL or NONE"), ("emailSet = nil", "write ANY, ALL or NONE"),
        ("surname = emailSet.address", "write ANY, ALL or NONE"), ("ANY surname = 'x'", "path to many objects"),
        ("ANY manager.surname = 'x'", "path to many objects"), ("surname.@count = 1", "@count must follow"),
        ("manager.@count = 1", "@count must follow"), ("age BETWEEN 5", "BETWEEN takes two values"),
        ("age BETWEEN {1, 2, 3}", "BETWEEN takes two values"), ("age IN 5", "IN takes a list"),
        ("surname LIKE code", "must be a value"), ("surname MATCHES code", "must be a value"),
        ("{1} = {1}", "compares single values"),
    ])
    func whatMakesNoSenseIsRefused(format: String, message: String) throws {
        let error = try error(format, [])
        #expect(error.code == .invalidCondition && error.message.contains(message), "\(error)")
    }

    @Test func objectsWithoutAKeyCannotBeCompared() throws {
        let error = try error("SELF = %@", [.object(FakeObject("log", [:]))], entity: "log")
        #expect(error.code == .invalidCondition)
    }
}
