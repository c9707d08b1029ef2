import KindredPostgres
import Testing

@Suite struct PostgresArrayTests {
    @Test(arguments: [
        "{}", "{1}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={1,2}", "[-1:0][5:5]={{1},{2}}", "{{{{{{1}}}}}}",
        "[2147483645:2147483646]={1,2}",
    ])
    func arraysComeBackFromTheirText(text: String) throws {
        let value = try decoded(Array(text.utf8), .int4Array, .text)
        #expect(value.description == text)
        var bytes: [UInt8] = []
        _ = try Codec.encode(value, as: .int4Array, into: &bytes)
        #expect(try decoded(bytes, .int4Array) == value)
    }

    @Test(arguments: [
        "", "{", "}", "{1", "1}", "{1,}", "{,1}", "{1,,2}", "{1}{2}", "{1} ", " {1}", "{{1},{2,3}}", "{{1},2}",
        "{1,{2}}", "{{}}",
        "{{1},{}}", "{{{{{{{1}}}}}}}", "[0:1]={1}", "[0:0]={1,2}", "[0:1]{1,2}", "[1:0]={}", "[0:1][0:0]={1,2}",
        "[a:b]={1}",
        "[0]={1}", "[:]={1}", "[0:1={1,2}", "[2147483647:2147483648]={1,2}", "[2147483646:2147483647]={1,2}",
        "[-9999999999999999999:0]={1}", "{\"1}", "{1\"}",
        "{\"1\"2}", "{1\\", "{x}", "{null}", "{\"NULL\"}",
    ])
    func otherTextsAreErrors(text: String) {
        expectDecodingFailed { try decoded(Array(text.utf8), .int4Array, .text) }
    }

    @Test func textsAreQuotedWhereTheyNeedIt() throws {
        let elements: [PostgresValue?] = [
            "a", "", "NULL", "null", "a b", "a,b", "{}", "\"", "\\", "a\u{0B}b", "é", nil, "nul",
        ]
        let array = PostgresValue.array(PostgresArray(elementType: .text, elements: elements))
        let text = #"{a,"","NULL","null","a b","a,b","{}","\"","\\","a"# + "\u{0B}" + #"b",é,NULL,nul}"#
        #expect(array.description == text)
        #expect(try decoded(Array(text.utf8), .textArray, .text) == array)
    }

    @Test func dimensionsHoldExactlyTheElements() {
        typealias Dimension = PostgresArray.Dimension
        let tooMany = Array(repeating: Dimension(count: 1), count: 7)
        for (dimensions, count) in [
            ([Dimension(count: 2)], 1), ([Dimension(count: -1)], 0), ([], 1), (tooMany, 1),
            ([Dimension(count: .max), Dimension(count: .max)], 1), ([Dimension(count: 1, lowerBound: .max)], 1),
            ([Dimension(count: 2, lowerBound: Int(Int32.max))], 2),
        ] {
            expectError(.invalidParameter) {
                try PostgresArray(
                    elementType: .int4, dimensions: dimensions, elements: Array(repeating: 1, count: count))
            }
        }
    }
}
