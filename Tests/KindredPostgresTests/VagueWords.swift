/// Words of a comment that stand for a thing instead of naming it, so that the reader has to search for it.
enum VagueWords {
    /// Words for people, where a task, role, client or program is meant.
    private static let people: Set<Substring> = [
        "who", "whom", "whoever", "somebody", "someone", "nobody", "anybody", "anyone", "everybody", "everyone",
    ]

    /// Words that begin no comment and no sentence.
    private static let beginnings: Set<Substring> = ["what", "those", "who"]

    /// Words that stand for a thing before one of some words: "what is", "those that", "another one".
    private static let pronouns: [Substring: Set<Substring>] = [
        "what": [
            "is", "are", "was", "were", "has", "have", "had", "they", "it", "can", "cannot", "could", "may", "might",
            "must", "will", "would", "shall", "should", "no", "not", "only", "else", "other", "others", "another",
            "happens", "happened", "became", "becomes", "stands", "follows", "leads", "comes", "came", "goes", "went",
            "belongs", "remains", "depends", "concerns", "changes", "changed", "counts", "nothing",
        ],
        "those": [
            "that", "which", "whose", "of", "with", "without", "in", "on", "at", "to", "for", "from", "by", "before",
            "after", "behind", "between", "within", "above", "below", "under", "where", "are", "were", "have", "had",
            "and", "or", "not", "only",
        ],
        "these": ["that", "which", "whose", "of"],
        "one": ["that", "which", "whose", "without"],
        "ones": ["that", "which", "whose", "of", "with", "without", "in"],
        "another": ["one"],
        "others": ["that", "which", "whose", "have", "do", "did", "commit", "committed"],
        "of": ["others"], "by": ["others"],
    ]

    /// The words behind which "the one" stands for a thing.
    private static let endsOfTheOne: Set<Substring> = [
        "of", "with", "in", "before", "behind", "to", "from", "it", "they",
    ]

    /// The vague words and phrases of a comment; text between backticks is code, and does not count.
    static func found(in comment: String) -> [String] {
        let words = words(of: comment.lowercased())
        var found: [String] = []
        for (place, word) in words.enumerated() {
            let (before, next) = (place > 0 ? words[place - 1] : ".", place + 1 < words.count ? words[place + 1] : ".")
            if people.contains(word) { found.append("\(word)") }
            if before == ".", beginnings.contains(word) { found.append("\(word) …") }
            if pronouns[word]?.contains(next) == true { found.append("\(word) \(next)") }
            if before == "the", word == "one", endsOfTheOne.contains(next) { found.append("the one \(next)") }
            if before == "one", word == "of", next == "which" || next == "whose" { found.append("one of \(next)") }
        }
        return found
    }

    /// The words of a text, and its other signs and parts between backticks, each as a word.
    private static func words(of text: String) -> [Substring] {
        var words: [Substring] = []
        var rest = text.utf8[...]
        while let first = rest.first {
            let length =
                switch first {
                case UInt8(ascii: "`"): rest.dropFirst().prefix { $0 != first }.count + 2
                case _ where isLetter(first): rest.prefix(while: isLetter).count
                default: 1
                }
            if first != UInt8(ascii: " ") { words.append(Substring(rest.prefix(length))) }
            rest = rest.dropFirst(length)
        }
        return words
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "'") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}
