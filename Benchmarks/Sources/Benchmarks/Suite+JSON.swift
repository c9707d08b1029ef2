import Foundation
import Kindred

extension Suite {
    /// A megabyte of each shape as a patch, read and applied or refused; Foundation reads the same bytes alone.
    static func patches(_ database: Database) -> [Measurement] {
        MegabyteOfJSON.allCases.map { shape in
            let bytes = shape.bytes
            let count = 10
            return Measurement(
                name: "a megabyte of JSON as a patch: \(shape.rawValue), JSONSerialization reads it", unit: "times",
                goal: .rate(50),
                floor: {
                    let data = Data(bytes)
                    return try await rate(of: count) {
                        for _ in 0..<count { _ = try? JSONSerialization.jsonObject(with: data) }
                    }
                }
            ) {
                let book = try database.makeContext().add("book", ["title": "A"])
                return try await rate(of: count) {
                    for _ in 0..<count {
                        do {
                            try book.apply(
                                try ObjectPatch(json: bytes, maximumBytes: 2 << 20), allowing: ["title", "year"])
                            throw UnexpectedResult()
                        } catch is KindredError {}
                    }
                }
            }
        }
    }
}

/// Texts that keep a server busy, and none of which fits the columns of a book.
enum MegabyteOfJSON: String, CaseIterable {
    case nestedArrays = "nested arrays"
    case nestedToTheLimit = "arrays as deep as a patch may be"
    case unknownKeys = "unknown keys"
    case keysOfDocument = "keys of one document"
    case smallObjects = "small objects"
    case numbers, digits, texts, escapes, blanks

    /// The text of about a million bytes.
    var bytes: [UInt8] {
        let size = 1_000_000
        func repeated(_ start: String, _ part: String, _ end: String) -> String {
            start + String(repeating: part, count: size / part.utf8.count) + end
        }
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let keys = (0..<90_000).map { "\"k\($0)\":0" }.joined(separator: ",")
        let text =
            switch self {
            case .nestedArrays: repeated("{\"title\":", "[", "")
            case .nestedToTheLimit: repeated("{\"title\":[", deep + ",", "0]}")
            case .unknownKeys: "{\(keys)}"
            case .keysOfDocument: "{\"title\":{\(keys)}}"
            case .smallObjects: repeated("{\"title\":[", "{\"a\":0,\"b\":[]},", "0]}")
            case .numbers: repeated("{\"title\":[", "1.5,", "0]}")
            case .digits: repeated("{\"year\":", "7", "}")
            case .texts: repeated("{\"title\":[", "\"aé\",", "0]}")
            case .escapes: repeated("{\"year\":\"", "\\u00e9\\n", "\"}")
            case .blanks: repeated("{\"year\":", " ", "[]}")
            }
        return Array(text.utf8)
    }
}
