import Testing

@testable import KindredPostgres

/// Names and texts of the server are compared by bytes, in keys and by operators.
@Suite struct ServerTextTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    private struct Named: Equatable { let name: String }
    private struct Keyed: Hashable { let name: String? }
    private enum Place: Equatable {
        case named(String), nowhere
    }

    @Test func twoSpellingsAreTwoKeys() {
        var places: [ServerText: Int] = ["plain": 0]
        (places[Self.composed], places[Self.decomposed]) = (1, 2)
        places["plain", default: 5] += 3
        places["new", default: 5] += 1
        #expect(places.count == 4 && places["plain"] == 3 && places["new"] == 6)
        #expect(places[Self.composed] == 1 && places[Self.decomposed] == 2 && places["none"] == nil)
        #expect(places.updateValue(7, forKey: Self.composed) == 1 && places.removeValue(forKey: Self.decomposed) == 2)
        var names = Set<ServerText>(texts: [Self.composed, Self.decomposed, Self.composed])
        #expect(names.count == 2 && names.contains(Self.decomposed) && !names.contains("cafe"))
        #expect(
            names.insert("a") && !names.insert("a") && names.sorted().texts == ["a", Self.decomposed, Self.composed])
    }

    @Test func operatorsOverStringsCompareBytes() {
        let (left, right) = (Self.composed, Self.decomposed)
        #expect(!(left == right) && left != right && left == "caf\u{e9}")
        #expect(right < left && left > right && ["b", "a"].sorted() == ["a", "b"])
        let some: String? = left
        #expect(some != right && some == left && some != nil)
        #expect([left] != [right] && ![left].contains(right) && [right, left].firstIndex(of: left) == 1)
        #expect([left].contains { $0 == left } && ![left].contains { $0 == right } && ![left].elementsEqual([right]))
        let none: [String]? = nil
        let (one, other): ([String]?, [String]?) = ([left], [right])
        #expect(one != other && one == [left] && none != [left] && none == nil)
        #expect([[left]] != [[right]] && [[left], []] == [[left], []])
        var names = [left, right]
        names.sort()
        #expect(names.map(\.utf8.count) == [6, 5] && [left, right].sorted().map(\.utf8.count) == [6, 5])
        switch left {
        case right: Issue.record("two spellings are one case")
        default: break
        }
    }

    @Test func beginningsAndEndsAreThoseOfBytes() {
        #expect(
            "pg_\u{301}x".hasPrefix("pg_") && !"cafe".hasPrefix(Self.decomposed) && Self.decomposed.hasPrefix("cafe"))
        #expect("x\u{301}".hasSuffix("\u{301}") && !Self.composed.hasSuffix("e\u{301}") && "a".hasSuffix(""))
    }

    @Test func typesWithStringsAreComparedByTheirBytes() {
        #expect(Named(name: Self.composed) != Named(name: Self.decomposed))
        #expect(Place.named(Self.composed) != .named(Self.decomposed) && Place.nowhere != .named(""))
        #expect(Set([Keyed(name: Self.composed), Keyed(name: Self.decomposed), Keyed(name: nil)]).count == 3)
        let notification = PostgresNotification(channel: Self.composed, payload: "", processID: 1)
        #expect(notification != PostgresNotification(channel: Self.decomposed, payload: "", processID: 1))
        let field = TypeRegistry.Field(name: Self.composed, type: .text)
        #expect(field != TypeRegistry.Field(name: Self.decomposed, type: .text))
    }

    @Test func settingsThatDifferInBytesDiffer() throws {
        let settings = try SessionSettings(["app.a": Self.composed])
        #expect(try settings != SessionSettings(["app.a": Self.decomposed]))
        #expect(try settings == SessionSettings(["APP.A": Self.composed]))
        #expect(try SessionSettings([:], role: Self.composed) != SessionSettings([:], role: Self.decomposed))
        var both: [ServerText: String] = [:]
        (both["app." + Self.composed], both["app." + Self.decomposed]) = ("1", "2")
        #expect(try SessionSettings(both).missing(among: ["app." + Self.composed, "app." + Self.decomposed]).isEmpty)
        // The server folds A to Z only.
        #expect(try SessionSettings(["app.\u{c9}": "1"]).missing(among: ["app.\u{e9}"]) == ["app.\u{e9}"])
        #expect(
            "App.\u{c9}Z".foldedName == "app.\u{c9}z" && SearchPathSetting.names("A\u{c9}, \"B\"") == ["a\u{c9}", "B"])
    }

    @Test func statementsThatDifferInBytesArePreparedEach() throws {
        var cache = StatementCache(capacity: 4)
        let texts = [Self.composed, Self.decomposed].map { StatementText("SELECT '\($0)'") }
        let entries = texts.map { cache.insert(Statement(text: $0)) }
        for (text, entry) in zip(texts, entries) {
            #expect(cache.find(Statement(text: StatementText(text.text))) === entry)
        }
        #expect(Set(texts).count == 2)
    }

    @Test func schemasOfNoTenantAreTold() {
        for name in ["", "$user", "pg_", "pg_\u{301}a", "kindred", "information_schema", "a\0"] {
            #expect(TenantSchema.isReserved(name), "\(name)")
        }
        #expect(TenantSchema.isReserved(String(repeating: "a", count: 64)))
        #expect(TenantSchema.isReserved(String(repeating: "\u{e9}", count: 32)))
        for name in ["acme", "$users", "pgx", "Kindred", String(repeating: "a", count: 63)] {
            #expect(!TenantSchema.isReserved(name), "\(name)")
        }
    }
}
