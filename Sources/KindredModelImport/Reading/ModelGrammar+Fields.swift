import HarmlessText
import KindredPostgres

extension ModelGrammar {
    /// The attributes of an element that nothing has asked for yet.
    struct Fields {
        /// The element's name in reports.
        let subject: String
        let hasText: Bool
        /// The names of the elements within.
        let children: [String]
        private(set) var rest: [String: String]
        private(set) var ignored: [String] = []
        private(set) var problems: [String] = []

        init(_ element: ModelXMLElement, _ subject: String) {
            self.subject = subject
            hasText = element.hasText
            children = element.children.map(\.name)
            rest = element.attributes
            rest["name"] = nil
            name = element.attributes["name"]
        }

        private let name: String?

        /// Takes an attribute; an empty one is nil unless that means something.
        mutating func text(_ key: String, mayBeEmpty: Bool = false) -> String? {
            if key == "name" { return name }
            guard let text = rest.removeValue(forKey: key), mayBeEmpty || !text.isEmpty else { return nil }
            return text
        }

        /// Takes a truth value; any other text is a problem, and gives nil.
        mutating func flag(_ key: String) -> Bool? {
            guard let text = text(key) else { return nil }
            switch text.lowercased() {
            case "yes", "true", "1": return true
            case "no", "false", "0": return false
            default:
                problems.append("\(key) is \"\(text)\", neither YES nor NO")
                return nil
            }
        }

        /// Takes the identifiers that tie an element to an element of another version.
        mutating func identity() -> CoreDataModel.Identity {
            for key in ["renamingIdentifier", "elementID"] where rest[key] != nil { ignored.append(key) }
            return CoreDataModel.Identity(renamingIdentifier: text("renamingIdentifier"), elementID: text("elementID"))
        }

        /// Takes the attributes that concern Xcode alone.
        mutating func ignore(_ known: [String: String]) {
            for key in known.keys where rest.removeValue(forKey: key) != nil { ignored.append(key) }
        }
    }
}

extension CoreDataModel {
    /// Reads a model from the text of its file.
    ///
    /// A DOCTYPE, entities of the file's own, another encoding than UTF-8, more than 200,000 elements or 32 levels are
    /// refused before anything is parsed.
    ///
    /// - Parameters:
    ///   - contents: The bytes of the file `contents`.
    ///   - name: The version's name.
    /// - Throws: ``ModelImportError`` `.malformed` or `.inconsistent`.
    public init(contents: [UInt8], name: String) throws {
        let grammar = try ModelGrammar(ModelXMLElement.parse(contents))
        self.init(
            name: name, entities: grammar.entities, composites: grammar.composites,
            configurations: grammar.configurations, remarks: grammar.remarks)
    }
}
