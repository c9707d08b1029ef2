import Foundation
import KindredPostgres
import TestSupport
import Testing

@Suite struct BindingsTests {
    @Test func parametersStandOneAfterTheOther() throws {
        var bindings = Bindings()
        try bindings.append(5 as Int64)
        try bindings.append(text: "é")
        try bindings.append(nil, as: .int4)
        try bindings.append("x")
        try bindings.append("", as: .text)
        try bindings.append(UUID())
        #expect(bindings.slots.map(\.type) == [.int8, .text, .int4, .unspecified, .text, .uuid])
        #expect(bindings.slots.map(\.length) == [8, 2, -1, 1, 0, 16])
        #expect(bindings.totalBytes == 8 + 2 + 2 + 16)
        bindings.withCArrays { types, values, lengths, formats in
            guard let types, let values, let lengths, let formats else {
                Issue.record("there are no arrays")
                return
            }
            #expect((0..<6).map { types[$0] } == [20, 25, 23, 0, 25, 2950])
            #expect((0..<6).map { formats[$0] } == [1, 1, 1, 0, 1, 1])
            #expect((0..<6).map { lengths[$0] } == [8, 2, 0, 1, 0, 16])
            #expect((0..<6).map { values[$0] == nil } == [false, false, true, false, false, false])
            // Text goes as a C string.
            #expect(values[3].map { String(cString: $0) } == "x")
            #expect(values[0].map { $0[7] } == 5)
        }
    }

    @Test func emptyValuesAreNotNull() throws {
        var bindings = Bindings()
        try bindings.append("", as: .text)
        bindings.withCArrays { _, values, _, _ in #expect(values?[0] != nil) }
        Bindings().withCArrays { types, values, lengths, formats in
            #expect(types == nil && values == nil && lengths == nil && formats == nil)
        }
    }

    @Test func arraysAreTheSameFromElementsAndFromValues() throws {
        var generator = SeededGenerator(seed: 9)
        for type in RandomValue.scalars where type.arrayType != nil {
            let values = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                generator.once(in: 4) ? nil : RandomValue.value(of: type, &generator)
            }
            var (left, right) = (Bindings(), Bindings())
            try left.appendArray(values, of: type)
            try right.append(.array(PostgresArray(elementType: type, elements: values)), as: type.arrayType)
            #expect(left.bytes == right.bytes, "\(type)")
        }
    }

    @Test func arraysOfOtherTypesNeedTheirOwnType() throws {
        let (mood, moods) = (PostgresDataType(rawValue: 70_000), PostgresDataType(rawValue: 70_001))
        var bindings = Bindings()
        expectError(.invalidParameter) { try bindings.appendArray(["happy"], of: mood) }
        try bindings.appendArray(["happy", nil], of: mood, as: moods)
        #expect(bindings.slots[0].format == .text && bindings.bytes == Array("{happy,NULL}\u{0}".utf8))
        bindings = Bindings()
        let types = TypeRegistry()
        types.register(mood, as: .textLike)
        try bindings.appendArray(["happy", nil], of: mood, as: moods, types: types)
        #expect(bindings.count == 1 && bindings.slots[0].type == moods && bindings.slots[0].format == .binary)
    }

    @Test func aRefusedValueLeavesNothingBehind() throws {
        var bindings = Bindings()
        try bindings.append(1, as: .int4)
        expectError(.invalidParameter) { try bindings.append("a\u{0}") }
        expectError(.invalidParameter) { try bindings.append(text: "a\u{0}") }
        expectError(.invalidParameter) { try bindings.append(70_000, as: .int2) }
        expectError(.invalidParameter) { try bindings.appendArray([1, 2, "x"], of: .int4) }
        expectError(.invalidParameter) {
            try bindings.append(.array(PostgresArray(elementType: .text, elements: ["a", 1])), as: .textArray)
        }
        #expect(bindings.count == 1 && bindings.totalBytes == 4)
    }

    @Test func thereIsACeilingOnTheirNumber() throws {
        var bindings = Bindings()
        for number in 0..<65_535 { try bindings.append(Int64(number)) }
        for value: PostgresValue? in [nil, 1, "x"] { expectError(.invalidParameter) { try bindings.append(value) } }
        expectError(.invalidParameter) { try bindings.append(1 as Int64) }
        #expect(bindings.count == 65_535)
    }

    @Test func thereIsACeilingOnTheirSize() throws {
        var bindings = Bindings()
        let large = PostgresValue.bytes([UInt8](repeating: 0, count: 300 << 20))
        for _ in 0..<3 { try bindings.append(large) }
        let error = expectError(.invalidParameter) { try bindings.append(large) }
        #expect(error?.message.contains("exceed") == true)
        #expect(bindings.count == 3)
    }

    @Test func textsThatAreTheSameAreOneStatement() {
        let (left, right) = (StatementText("SELECT é"), StatementText("SELECT é"))
        #expect(left == right && left.hashValue == right.hashValue)
        #expect(StatementText("SELECT \u{E9}") != StatementText("SELECT e\u{301}"))
    }
}
