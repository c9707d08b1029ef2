import KindredPostgres

/// Plurals and singulars of English nouns, for the names of tables and relationships.
///
/// Only a name's last word changes. Words not listed as irregular follow the usual rules; a wrong name can be corrected in
/// the lock file, which keeps it.
enum EnglishNoun {
    /// Pairs of singular and plural that the rules get wrong.
    private static let irregular: [(singular: String, plural: String)] = [
        ("man", "men"), ("woman", "women"), ("salesman", "salesmen"), ("businessman", "businessmen"),
        ("foot", "feet"), ("tooth", "teeth"), ("goose", "geese"), ("mouse", "mice"),
        ("criterion", "criteria"), ("phenomenon", "phenomena"),
        ("leaf", "leaves"), ("shelf", "shelves"), ("half", "halves"), ("knife", "knives"), ("life", "lives"),
        ("wife", "wives"), ("wolf", "wolves"), ("thief", "thieves"), ("loaf", "loaves"), ("calf", "calves"),
        ("alias", "aliases"), ("atlas", "atlases"), ("bias", "biases"), ("canvas", "canvases"), ("gas", "gases"),
        ("lens", "lenses"), ("menu", "menus"), ("cpu", "cpus"), ("gpu", "gpus"), ("taxi", "taxis"), ("quiz", "quizzes"),
        ("axis", "axes"), ("movie", "movies"), ("cookie", "cookies"), ("calorie", "calories"), ("selfie", "selfies"),
        ("tie", "ties"), ("pie", "pies"), ("hero", "heroes"), ("potato", "potatoes"), ("tomato", "tomatoes"),
        ("echo", "echoes"), ("veto", "vetoes"), ("cargo", "cargoes"),
    ]

    /// Compounds of these are irregular too: `grandchild`, `salesperson`.
    private static let irregularEndings = [("person", "people"), ("child", "children")]

    /// Alternative plurals.
    private static let otherPlurals = [
        "indices": "index", "matrices": "matrix", "vertices": "vertex", "appendices": "appendix", "persons": "person",
    ]

    /// Words with one form for both, or without a plural.
    private static let invariable: Set<String> = [
        "aircraft", "analytics", "aws", "barracks", "chaos", "cms", "corps", "cosmos", "crossroads", "data", "deer",
        "diagnostics", "dns", "economics", "electronics", "equipment", "fish", "gps", "headquarters", "information",
        "ios", "kudos", "logistics", "mathematics", "means", "media", "metadata", "mms", "news", "physics", "politics",
        "pos", "series", "sheep", "sms", "species", "statistics", "tls", "yes",
    ]

    /// Plurals that lose only their `s`, although other plurals with that ending lose `es`.
    private static let plainPlurals: Set<String> = [
        "abuses", "aches", "avalanches", "caches", "canoes", "excuses", "foes", "fuses", "headaches", "muses", "niches",
        "refuses", "reuses", "shoes", "toes", "uses",
    ]

    private static let plurals = Dictionary(
        irregular.map { ($0.singular, $0.plural) }, uniquingKeysWith: { first, _ in first })
    private static let singulars = otherPlurals.merging(irregular.map { ($0.plural, $0.singular) }) { first, _ in first
    }

    /// The plural of a name's last word; a plural stays as it is.
    static func plural(_ name: String) -> String {
        replaceLastWord(of: name) { word in
            if invariable.contains(word) || singular(ofWord: word) != word { return word }
            if let plural = plurals[word] { return plural }
            for (one, many) in irregularEndings where word.hasSuffix(one) { return word.dropLast(one.count) + many }
            if word.hasSuffix("sis") { return word.dropLast(2) + "es" }
            if ["s", "x", "z", "ch", "sh"].contains(where: word.hasSuffix) { return word + "es" }
            if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
                return word.dropLast() + "ies"
            }
            return word + "s"
        }
    }

    /// The singular of a name's last word; a singular stays as it is.
    static func singular(_ name: String) -> String {
        replaceLastWord(of: name, by: singular(ofWord:))
    }

    private static func singular(ofWord word: String) -> String {
        if invariable.contains(word) || plurals[word] != nil { return word }
        if let singular = singulars[word] { return singular }
        for (one, many) in irregularEndings where word.hasSuffix(many) { return word.dropLast(many.count) + one }
        guard word.hasSuffix("s"), word.count > 2, !["ss", "us", "is"].contains(where: word.hasSuffix) else {
            return word
        }
        if plainPlurals.contains(word) { return String(word.dropLast()) }
        if word.hasSuffix("ies") { return word.dropLast(3) + "y" }
        if ["lyses", "theses", "gnoses", "crises", "nopses"].contains(where: word.hasSuffix) {
            return word.dropLast(2) + "is"
        }
        let losesTwo =
            ["sses", "shes", "ches", "xes", "zzes", "oes"].contains(where: word.hasSuffix)
            || word.hasSuffix("uses") && !["ouses", "auses"].contains(where: word.hasSuffix)
        return String(word.dropLast(losesTwo ? 2 : 1))
    }

    /// Changes the last word of a name in camel case, or a name that is one word; its first letter keeps its case.
    private static func replaceLastWord(of name: String, by change: (String) -> String) -> String {
        guard let last = SwiftName.words(in: name).last, name.hasSuffix(last) else { return name }
        let lower = last.lowercased()
        let changed = change(lower)
        if changed == lower { return name }
        // The common prefix keeps its case, as in `userIDs`.
        let kept = zip(lower, changed).prefix { $0 == $1 }.count
        var word = last.prefix(kept) + changed.dropFirst(kept)
        if kept == 0, last.first?.isUppercase == true { word = word.prefix(1).uppercased() + word.dropFirst() }
        return String(name.dropLast(last.count)) + word
    }
}
