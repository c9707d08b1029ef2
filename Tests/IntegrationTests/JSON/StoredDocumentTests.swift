import Foundation
import Kindred
import KindredTesting
import Testing

/// Documents as the server stores them: deep, with a key twice, with numbers of any size.
@Suite struct StoredDocumentTests {
    private static let schema = """
        CREATE TABLE doc (id integer PRIMARY KEY, j json, b jsonb);
        INSERT INTO doc VALUES (1, '{"a": {"x": 1}, "a": [2]}', '{"n": [1, {}]}');
        INSERT INTO doc SELECT 2, b::json, b FROM (SELECT (repeat('[', 400) || repeat(']', 400))::jsonb b) d;
        INSERT INTO doc SELECT 3, NULL, (repeat('[', 401) || repeat(']', 401))::jsonb;
        INSERT INTO doc SELECT 4, (repeat('{"a":', 3000) || '1' || repeat('}', 3000))::json, '1';
        """

    @Test(.database(.sql(schema))) func deepDocumentsAreReadAndWrittenOrRefusedByThemselves() async throws {
        try await withDatabase { (database, context, other) async throws in
            let docs = try await context.fetch("doc").sorted("id").all()
            #expect(docs.count == 4)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            func text(_ value: some Encodable) throws -> String {
                String(decoding: try encoder.encode(value), as: UTF8.self)
            }
            #expect(try text(docs[0]) == #"{"b":{"n":[1,{}]},"id":1,"j":{"a":[2]}}"#)
            let deepest = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
            #expect(try text(docs[1]) == #"{"b":\#(deepest),"id":2,"j":\#(deepest)}"#)
            for (index, key) in [(2, "b"), (3, "j")] {
                do {
                    _ = try text(docs[index])
                    Issue.record("\(key) was written")
                } catch EncodingError.invalidValue(_, let context) {
                    #expect(context.codingPath.last?.stringValue == key)
                    #expect(context.debugDescription.contains("deeper than 400"))
                }
            }
            // The text is there all the same, and is stored again.
            docs[2]["j"] = docs[3]["j"]
            try await context.save()
            #expect(try await other.value("SELECT length(j::text) FROM doc WHERE id = 3") == 18_001)
            // A view without the document, of objects that have one.
            let views = try await context.fetch("doc").sorted("id").views("id")
            #expect(try text(views) == #"[{"id":1},{"id":2},{"id":3},{"id":4}]"#)
        }
    }

    @Test(.database(.sql(schema))) func aPatchesDocumentIsStoredAsItWasSent() async throws {
        try await withDatabase { (database, context, other) async throws in
            let doc = try #require(try await context.find("doc", 1))
            let deepest = String(repeating: "[", count: 63) + "1e400" + String(repeating: "]", count: 63)
            let sent = #"{"z": -0, "a" : [ 1.50,\#n "\u00e9 \/ \" ] " ], "d": 1e-7}"#
            try doc.apply(try ObjectPatch(json: #"{"j": \#(sent), "b": \#(deepest)}"#.utf8))
            try await context.save()
            #expect(
                try await other.value("SELECT j::text FROM doc WHERE id = 1")
                    == .string(#"{"z":-0,"a":[1.50,"\u00e9 \/ \" ] "],"d":1e-7}"#))
            #expect(try await other.value("SELECT b = '\(unsafeRaw: deepest)'::jsonb FROM doc WHERE id = 1") == true)
        }
    }
}
