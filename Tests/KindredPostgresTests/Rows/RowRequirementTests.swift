import KindredPostgres
import TestSupport
import Testing

@Suite struct RowRequirementTests {
    private func row(_ bytes: [UInt8]?, _ type: PostgresDataType, _ format: PostgresFormat) -> Row {
        Row(columns: RowColumns([.init(name: "a", dataType: type, format: format)], types: nil), count: 1) { _, write in
            bytes?.withBytes(write)
        }
    }

    private func encode(_ value: PostgresValue, _ type: PostgresDataType, _ format: PostgresFormat) throws -> [UInt8] {
        guard format == .binary else { return Array(value.description.utf8) }
        var bytes: [UInt8] = []
        _ = try Codec.encode(value, as: type, into: &bytes)
        return bytes
    }

    @Test("What fits a form can be read, and what does not cannot", arguments: [PostgresFormat.binary, .text])
    func fits(format: PostgresFormat) throws {
        var generator = SeededGenerator(seed: .random(in: 0..<1_000_000))
        var (fits, misfits) = (0, 0)
        for type in RandomValue.scalars {
            guard let form = row(nil, type, format).columns.form(at: 0) else { continue }
            let requirement = RowRequirement(column: 0, form: form, mayBeNull: false)
            for round in 0..<200 {
                var bytes = RandomValue.bytes(&generator)
                if round % 10 > 0 {
                    bytes = try encode(RandomValue.value(of: type, &generator), type, format)
                    if round % 10 > 2 { bytes = generator.damaged(bytes) }
                }
                let row = row(bytes, type, format)
                let fit = row.firstMisfit(among: [requirement]) == nil
                let isReadable = (try? row[0]) != nil
                #expect(fit == isReadable, "\(type) \(bytes)")
                if fit { fits += 1 } else { misfits += 1 }
            }
        }
        #expect(fits > 200 && misfits > 100)
    }

    @Test func onlyBuiltInTypesWithoutPartsHaveAForm() {
        for type in [PostgresDataType.int2, .bool, .numeric, .date, .timestamptz, .jsonb, .inet, .tsvector, .money] {
            #expect(row(nil, type, .binary).columns.form(at: 0) != nil)
        }
        #expect(row(nil, .int4Array, .binary).columns.form(at: 0) == nil)
        #expect(row(nil, .int4, .text).columns.form(at: 0) == nil)
        #expect(row(nil, PostgresDataType(rawValue: 70_000), .binary).columns.form(at: 0) == nil)
    }

    @Test func theFirstColumnThatIsNullWithoutLeaveOrNotThereIsTheMisfit() {
        let row = row(nil, .bool, .binary)
        func misfit(_ column: Int, mayBeNull: Bool) -> Int? {
            row.firstMisfit(among: [
                RowRequirement(column: column, form: .bytes(1), mayBeNull: mayBeNull),
                RowRequirement(column: 7, form: .any, mayBeNull: true),
            ])
        }
        #expect(misfit(0, mayBeNull: false) == 0 && misfit(0, mayBeNull: true) == 7)
        #expect(misfit(1, mayBeNull: true) == 1 && misfit(-1, mayBeNull: true) == -1)
    }
}
