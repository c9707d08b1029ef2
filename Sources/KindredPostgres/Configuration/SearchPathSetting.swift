/// Parses a search path as the server writes it: comma-separated, with quotes where needed.
enum SearchPathSetting {
    /// The schema names of a path.
    static func names(_ text: String) -> [String] {
        var names: [String] = []
        var name = String.UnicodeScalarView()
        var (isQuoted, wasQuoted) = (false, false)
        func finished() -> String {
            let text = String(name)
            return wasQuoted ? text : text.filter { $0 != " " && $0 != "\t" && $0 != "\n" }.foldedName
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"":
                // A doubled quote is a quote in the name.
                if !isQuoted && wasQuoted { name.append(scalar) }
                isQuoted.toggle()
                wasQuoted = true
            case "," where !isQuoted:
                names.append(finished())
                (name, wasQuoted) = (String.UnicodeScalarView(), false)
            default:
                if isQuoted || !wasQuoted && scalar != " " { name.append(scalar) }
            }
        }
        return names + [finished()]
    }
}
