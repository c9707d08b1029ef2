import KindredDDL
import KindredModelImport
import KindredTesting
import Testing

/// The outcome of a change of types agrees with the server's effect on values.
@Suite struct TypeChangeTests {
    private static let values: [(type: String, values: [String])] = [
        ("boolean", ["true", "false"]),
        ("smallint", ["0", "1", "7", "-32768", "32767"]),
        ("integer", ["0", "1", "7", "-2147483648", "16777217", "2147483647"]),
        ("bigint", ["0", "1", "7", "-9223372036854775808", "9007199254740993"]),
        ("numeric", ["0", "1", "1.5", "-0.000000000000000000001", "123456789012345678901234567890.5", "NaN"]),
        ("real", ["0", "1", "0.1", "16777216", "3.4028235e38", "NaN"]),
        ("double precision", ["0", "1", "0.30000000000000004", "1.7976931348623157e308", "-1e-300", "NaN"]),
        (
            "text",
            [
                "1", "0", "true", "-7", "1.50", "0.30000000000000004", "9223372036854775807",
                "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "2001-02-03 04:05:06.789+00", "", "x",
            ]
        ),
        ("uuid", ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"]),
        ("timestamp with time zone", ["2001-02-03 04:05:06.789+00", "0003-04-10 12:26:40+00 BC", "infinity"]),
        ("bytea", ["\\x00ff"]),
    ]

    private static func column(_ type: String) -> ColumnItem {
        ColumnItem(type: type, isNotNull: false, identityOptions: [], base: type, isText: type == "text")
    }

    /// Tells whether a value is the same after a column has got another type; NULL where the server refuses it.
    private static let function: SQL = """
        CREATE FUNCTION fate(old text, new text, conversion text, test text, value text) RETURNS boolean LANGUAGE plpgsql
        AS $$
        DECLARE result boolean;
        BEGIN
            EXECUTE format('CREATE TEMPORARY TABLE t (x %s, was %s)', old, old);
            EXECUTE format('INSERT INTO t VALUES (%1$L::%2$s, %1$L::%2$s)', value, old);
            EXECUTE format('ALTER TABLE t ALTER COLUMN x TYPE %s %s', new, conversion);
            EXECUTE format('SELECT %s FROM t', test) INTO result;
            DROP TABLE t;
            RETURN result;
        EXCEPTION WHEN data_exception OR datatype_mismatch OR cannot_coerce OR feature_not_supported THEN RETURN NULL;
        END $$
        """

    private func isKept(_ value: String, _ change: TypeChange, _ client: PostgresClient) async throws -> Bool? {
        let (old, new) = (change.from.type, change.to.type)
        let conversion = change.conversion(of: "x", casts: SchemaSnapshot()).map { "USING \($0)" } ?? ""
        // A number may be written in several ways.
        let isNumber = Double(value) != nil && new != "boolean" && new != "bytea"
        let test = old != "text" ? "x::text::\(old) = was" : isNumber ? "was::numeric = x::text::numeric" : "true"
        let row = try await client.query("SELECT fate(\(old), \(new), \(conversion), \(test), \(value))").first
        return try row?.decode(0, as: Bool.self)
    }

    @Test(.database(.empty)) func valuesFareAsItIsSaid() async throws {
        try await withClient { client in
            try await client.query(Self.function)
            for (old, values) in Self.values {
                for (new, _) in Self.values where new != old {
                    let change = TypeChange(from: Self.column(old), to: Self.column(new))
                    var fates: [Bool?] = []
                    for value in values { fates.append(try await isKept(value, change, client)) }
                    let note: Comment = "\(old) to \(new): \(fates)"
                    guard change.isKnown else {
                        #expect(change.canLoseData || new == "text", note)
                        continue
                    }
                    switch change.outcome {
                    case .kept: #expect(fates.allSatisfy { $0 == true }, note)
                    case .mayFail: #expect(!fates.contains(false), note)
                    case .mayChange: #expect(fates.contains { $0 != true }, note)
                    }
                    #expect(change.canLoseData == (change.outcome != .kept), note)
                }
            }
        }
    }
}
