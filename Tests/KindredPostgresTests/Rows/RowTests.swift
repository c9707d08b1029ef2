import CLibPQ
import Foundation
import KindredPostgres
import Testing

@Suite struct RowTests {
    @Test func cellsAreReadByPositionAndByName() throws {
        let row = try result([
            ("id", .int4, [0, 0, 0, 5]), ("name", .text, Array("é".utf8)), ("none", .text, nil), ("empty", .text, []),
            ("id", .int8, [0, 0, 0, 0, 0, 0, 0, 6]),
        ])[0]
        #expect(try row[0] == 5 && row["id"] == 5 && row[4] == 6)
        #expect(try row["name"] == "é" && row["none"] == nil && row["empty"] == "")
        #expect(row.isNull(at: 2) && !row.isNull(at: 3) && row.isNull(at: 5) && row.isNull(at: -1))
        #expect(try row.decode("id", as: Int.self) == 5)
        #expect(try row.decode(1, as: String.self) == "é")
        #expect(try row.decode("none", as: Int.self) == nil)
        #expect(row.count == 5)
    }

    @Test func differencesAreTheColumnsThatDoNotHoldTheSame() throws {
        let values: [[UInt8]?] = [nil, [], [1], [2], [1, 2]]
        let columns = RowColumns((0..<9).map { .init(name: "c\($0)", dataType: .bytea) }, types: nil)
        func row(_ cells: [[UInt8]?]) -> Row {
            Row(columns: columns, count: cells.count) { column, write in cells[column]?.withBytes(write) }
        }
        for _ in 0..<500 {
            let cells = (0..<9).map { _ in values[.random(in: 0..<values.count)] }
            var others = cells
            for _ in 0..<Int.random(in: 0...4) { others[.random(in: 0..<9)] = values[.random(in: 0..<values.count)] }
            let (row, other) = (row(cells), row(others))
            #expect(cells.indices.allSatisfy { row.hasSameBytes(as: other, at: $0) == (cells[$0] == others[$0]) })
            #expect(row.hasSameBytes(as: other) == (cells == others))
        }
    }

    @Test func columnsThatAreLeftOutAreNotNull() {
        let columns = RowColumns((0..<20).map { .init(name: "c\($0)", dataType: .bytea) }, types: nil)
        let values: [[UInt8]?] = [nil, [], [1], [2, 3]]
        for _ in 0..<200 {
            let cells = (0..<20).map { _ in values[.random(in: 0..<values.count)] }
            let leftOut = Set((0..<20).filter { _ in Int.random(in: 0..<3) == 0 })
            let whole = Row(columns: columns, count: 20) { column, write in cells[column]?.withBytes(write) }
            let row = whole.leavingOut(leftOut)
            #expect(row.leavesOut == !leftOut.isEmpty && !whole.leavesOut)
            let size = cells.indices.reduce(0) { $0 + (leftOut.contains($1) ? 0 : cells[$1]?.count ?? 0) }
            #expect(row.size == size)
            #expect(row.hasSameBytes(as: whole) == leftOut.isEmpty)
            for column in 0..<20 {
                #expect(row.isLeftOut(at: column) == leftOut.contains(column))
                #expect(row.withBytes(at: column) { $0.array } == (leftOut.contains(column) ? nil : cells[column]))
                #expect(row.hasSameBytes(as: whole, at: column) == !leftOut.contains(column))
            }
            // Where a column becomes NULL, it is known.
            #expect(!row.settingNull(Array(0..<20)).leavesOut)
            #expect(row.leavingOut([]).hasSameBytes(as: row))
        }
    }

    @Test func aResultTellsWhatItsStatementLeftOut() {
        let columns = RowColumns(
            [
                .init(name: "id", dataType: .int4, table: 7, number: 1),
                .init(name: RowColumns.leftOutName, dataType: .text),
                .init(name: RowColumns.leftOutName, dataType: .text, table: 7, number: 2),
            ], types: nil)
        #expect(columns.leftOut == [1])
    }

    @Test func valuesAreReadTypedFromTheirBytes() throws {
        let uuid = UUID()
        let row = try result([
            ("a", .int2, [0xFF, 0xFE]), ("b", .bool, [1]), ("c", .float8, Array(0.1.bitPattern.bigEndianBytes)),
            ("d", .uuid, withUnsafeBytes(of: uuid.uuid, Array.init)), ("e", .varchar, [0x78]),
            ("f", .float4, Array(Float(0.5).bitPattern.bigEndianBytes)),
        ])[0]
        #expect(try row.decode(0, as: Int.self) == -2 && row.decode(0, as: Int8.self) == -2)
        #expect(try row.decode(1, as: Bool.self) == true && row.decode(2, as: Double.self) == 0.1)
        #expect(try row.decode(3, as: UUID.self) == uuid && row.decode(4, as: String.self) == "x")
        #expect(try row.decode(5, as: Float.self) == 0.5 && row.decode(5, as: Double.self) == 0.5)
    }

    @Test(
        arguments: [(PostgresDataType.int2, 2), (.int4, 4), (.int8, 8)] as [(PostgresDataType, Int)])
    func anIntegerOfAnotherWidthThanItsTypeIsRefusedAtEveryDoor(type: PostgresDataType, width: Int) throws {
        for count in 0...9 {
            let bytes = [UInt8](repeating: 0, count: max(0, count - 1)) + (count == 0 ? [] : [7])
            let result = try result([("n", type, bytes)])
            let row = result[0]
            let doors: [() throws -> Int64?] = [
                { try row.decode(0, as: Int.self).map { Int64($0) } }, { try row.decode(0, as: Int64.self) },
                { try row.decode(0, as: Int32.self).map { Int64($0) } }, { try row.decode("n", as: Int64.self) },
                { try row[0] == 7 ? 7 : nil }, { try result.integer(row: 0, column: 0) },
                { try result.value(row: 0, column: 0) == 7 ? 7 : nil },
            ]
            for (number, door) in doors.enumerated() {
                if count == width {
                    #expect(try door() == 7, "door \(number)")
                } else {
                    let error = #expect(throws: PostgresError.self, "door \(number) of \(count)") { try door() }
                    #expect(error?.code == .decodingFailed)
                }
            }
            #expect(row.integer(at: 0) == (count == width ? 7 : nil))
        }
    }

    @Test func textCellsAreReadToo() throws {
        let row = try result(
            [
                ("a", .int4, Array("-7".utf8)), ("b", .bool, Array("t".utf8)), ("c", .float8, Array("1e+20".utf8)),
                ("d", .uuid, Array("550e8400-e29b-41d4-a716-446655440000".utf8)), ("e", .text, Array("x".utf8)),
            ], format: .text)[0]
        #expect(try row.decode(0, as: Int.self) == -7 && row.decode(1, as: Bool.self) == true)
        #expect(try row.decode(2, as: Double.self) == 1e20 && row.decode(4, as: String.self) == "x")
        #expect(try row.decode(3, as: UUID.self)?.uuidString == "550E8400-E29B-41D4-A716-446655440000")
    }

    @Test func errorsNameColumnAndTypesAndNotTheValue() throws {
        let row = try result([
            ("age", .text, Array("s3cr3t".utf8)), ("size", .int4, [0, 0, 1, 44]), ("bad", .int4, [1]),
            ("text", .text, [0xFF]),
        ])[0]
        for (column, type, facts) in [
            ("age", Int.self, ["\"age\"", "type text", "a string", "Int"]),
            ("size", Int8.self, ["\"size\"", "type integer", "an integer", "Int8"]),
            ("bad", Int.self, ["\"bad\"", "type integer"]), ("text", String.self, ["\"text\"", "UTF-8"]),
        ] as [(String, any PostgresDecodable.Type, [String])] {
            let error = try #require(expectError(.decodingFailed) { try decode(row, column, type) })
            for fact in facts { #expect(error.message.contains(fact), "\(error)") }
            #expect(!error.debugDescription.contains("s3cr3t") && !error.debugDescription.contains("300"))
        }
        #expect(expectError(.decodingFailed) { try row["agee"] }?.message.contains("\"agee\"") == true)
        #expect(expectError(.decodingFailed) { try row[4] }?.message.contains("no column 4") == true)
        expectError(.decodingFailed) { try row[-1] }
        expectError(.decodingFailed) { try row.decode(.max, as: Int.self) }
        #expect("\(row)" == "Row(age, size, bad, text)")
    }

    @Test func namesAreTheirBytes() throws {
        for padding in [0, 20] {
            var columns: [(String, PostgresDataType, [UInt8]?)] = [
                ("\u{E9}", .int2, [0, 1]), ("e\u{301}", .int2, [0, 2]), ("A", .int2, [0, 3]), ("a", .int2, [0, 4]),
            ]
            columns += (0..<padding).map { ("p\($0)", .int2, [0, 9]) }
            let row = try result(columns)[0]
            #expect(try row["\u{E9}"] == 1 && row["e\u{301}"] == 2 && row["A"] == 3 && row["a"] == 4)
            expectError(.decodingFailed) { try row["E"] }
        }
    }

    @Test func rowsStandWithoutTheirResult() throws {
        var rows: [Row] = []
        do {
            let result = try result([("a", .text, Array("kept".utf8))], rows: 3)
            #expect(result.count == 3 && result.affectedRows == 0 && result.commandTag == "")
            rows = Array(result)
        }
        #expect(try rows.map { try $0["a"] } == ["kept", "kept", "kept"])
    }

    @Test func cellsAreLentWithoutARow() throws {
        let result = try result([("a", .int4, [0, 0, 0, 5]), ("b", .text, nil), ("c", .text, [])])
        #expect(try result.value(row: 0, column: 0) == 5)
        #expect(try result.value(row: 0, column: 1) == nil)
        #expect(result.withCell(row: 0, column: 0) { $0.count } == 4)
        #expect(result.withCell(row: 0, column: 1) { $0.count } == nil)
        #expect(result.withCell(row: 0, column: 2) { $0.count } == 0)
        let prefix = result.row(at: 0, prefix: 1)
        #expect(prefix.count == 1)
        expectError(.decodingFailed) { try prefix["b"] }
    }

    @Test func rowsAreComparedByteByByte() throws {
        let left = try result([("a", .int4, [0, 0, 0, 5]), ("b", .text, nil)])[0]
        let right = try result([("a", .int4, [0, 0, 0, 5]), ("b", .text, [])])[0]
        #expect(left.hasSameBytes(as: left) && !left.hasSameBytes(as: right))
        #expect(left.hasSameBytes(as: right, at: 0) && !left.hasSameBytes(as: right, at: 1))
        let cleared = right.settingNull([0])
        #expect(cleared.isNull(at: 0) && !cleared.isNull(at: 1))
        #expect(left.rawValue(at: 0)?.bytes == [0, 0, 0, 5] && left.rawValue(at: 1) == nil)
    }

    private func decode<T: PostgresDecodable>(_ row: Row, _ column: String, _ type: T.Type) throws -> T? {
        try row.decode(column, as: type)
    }

    /// A result as libpq holds it.
    private func result(
        _ columns: [(name: String, type: PostgresDataType, value: [UInt8]?)],
        format: PostgresFormat = .binary,
        rows: Int = 1
    ) throws -> QueryResult {
        let handle = try #require(PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK))
        let names = columns.map { strdup($0.name) }
        defer { names.forEach { free($0) } }
        var descriptions = zip(columns, names).map { column, name in
            PGresAttDesc(
                name: name, tableid: 0, columnid: 0, format: format == .binary ? 1 : 0, typid: column.type.rawValue,
                typlen: -1,
                atttypmod: -1)
        }
        #expect(PQsetResultAttrs(handle, Int32(columns.count), &descriptions) == 1)
        for row in 0..<rows {
            for (position, column) in columns.enumerated() {
                var bytes = (column.value ?? []).map { CChar(bitPattern: $0) }
                let length = Int32(column.value?.count ?? -1)
                #expect(PQsetvalue(handle, Int32(row), Int32(position), &bytes, length) == 1)
            }
        }
        return QueryResult(taking: ResultHandle(handle), types: nil)
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}
