/// The parts of the object layer that have to agree for an answer in memory to be right, read from the text of the sources.
///
/// A function counts by its body, not by its name:
/// - **A time** is a stored property of an instance whose declaration has the type `ContextTime`.
/// - **A mark** is a time, or another stored property of a type that keeps notes (`noteTypes`); not the time of
///   `LoadedMembers`, which are made anew whenever they are shown.
/// - **A function notes** if it is in Graph or Live/Contexts (which is Contexts of `KindredLive`), outside the log of changes (Graph/Changes), and writes a mark:
///   assigns it, changes it in place, or passes it `inout`. So does a function that calls one by a name and labels that no
///   other function there has. A door does not pass that on to its callers, nor does `withMap`.
/// - **A door** is a function of `ContextCore` in Graph that takes rows, notes something or makes objects of them, and is called
///   in another room.
/// - **A file decides validity** if it compares two times by `<` or `>`.
struct KernelCount {
    private(set) var times: [String] = []
    private(set) var notes: [String] = []
    private(set) var doors: [String] = []
    private(set) var decidingFiles: [String] = []

    /// The types whose properties are marks.
    static let noteTypes: Set = [
        "ChangeLog", "ChangeLog.Table", "RowChanges", "ScopedTime", "MemberChanges", "MemberChanges.Owner",
        "LoadedParts", "LoadedParts.Part", "ChangeFollowing.State",
    ]

    /// The types in which rows come.
    static let rowTypes: Set = [
        "Row", "EntityRows", "Answer", "LoadedMembers", "Member", "StoredObjects", "CommittedChanges",
        "CommittedRow",
        "SnapshotRows", "QueryResult", "RowChange", "RowGap",
    ]

    /// Labels of objects and keys whose rows have come.
    private static let rowLabels: Set = ["deletionOf", "storedRowOf", "written"]

    private struct Function {
        let file: SwiftSource
        let member: SwiftMember

        var text: String { "\(file.path): \(member.fullName)" }

        /// Whether a parameter has rows.
        var takesRows: Bool {
            var depth = 0
            for token in file.tokens[member.head] {
                if token.text == "(" { depth += 1 }
                if token.text == ")" { depth -= 1 }
                if depth == 0 { return false }
                if rowTypes.contains(token.text) || rowLabels.contains(token.text) { return true }
            }
            return false
        }
    }

    init(_ files: [SwiftSource]) {
        var functions: [Function] = []
        // The types that have a mark of a name.
        var marks: [String: Set<String>] = [:]
        var timeNames: Set<String> = []
        for file in files {
            for member in file.members.members {
                if member.kind == .stored, !member.isStatic {
                    let isTime = file.tokens[member.head].contains { $0.text == "ContextTime" }
                    if isTime {
                        times.append("\(file.path): \(member.fullName)")
                        timeNames.insert(member.name)
                    }
                    if isTime, member.types == ["LoadedMembers"] { continue }
                    if isTime || Self.noteTypes.contains(member.types.joined(separator: ".")) {
                        marks[member.name, default: []].insert(member.types.last ?? "")
                    }
                } else if member.kind == .function, !member.name.hasPrefix("init(") {
                    let isOfLog = file.path.hasPrefix("Graph/Changes/") && !member.types.contains("ContextCore")
                    if !isOfLog, file.path.hasPrefix("Graph/") || file.path.hasPrefix("Live/Contexts/") {
                        functions.append(Function(file: file, member: member))
                    }
                }
            }
        }
        let noting = Self.noting(functions, marks, timeNames, files)
        notes = noting.notes.map { functions[$0].text }.sorted()
        doors = noting.doors.map { functions[$0].text }.sorted()
        decidingFiles = files.filter { Self.comparesTimes($0, timeNames) }.map(\.path).sorted()
    }

    // MARK: Functions that note

    private static func noting(
        _ functions: [Function], _ marks: [String: Set<String>], _ timeNames: Set<String>, _ files: [SwiftSource]
    ) -> (notes: Set<Int>, doors: Set<Int>) {
        let called = files.filter { !$0.path.hasPrefix("Graph/") }.reduce(into: Set<String>()) { called, file in
            called.formUnion(Self.calls(in: file, file.tokens.indices))
        }
        let byBase = Dictionary(grouping: functions.indices) { functions[$0].member.baseName }
        // The functions that a call may mean: functions with its very labels, or else functions whose other arguments a
        // call may leave out.
        func meant(by call: String) -> [Int] {
            let found = byBase[String(call.prefix { $0 != "(" })] ?? []
            let exact = found.filter { functions[$0].member.name == call }
            return exact.isEmpty ? found.filter { leavesOut(call, functions[$0].member.name) } : exact
        }
        let calledOutside = Set(called.flatMap(meant))
        let mayBeDoors = Set(
            functions.indices.filter {
                functions[$0].file.path.hasPrefix("Graph/") && functions[$0].takesRows
                    && functions[$0].member.types == ["ContextCore"] && calledOutside.contains($0)
                    && functions[$0].member.modifiers.isDisjoint(with: ["private", "fileprivate"])
            })
        let calls = functions.map { Self.calls(in: $0.file, $0.member.body).map(meant).filter { !$0.isEmpty } }
        // Some functions, and all functions with a call that can mean only functions found before.
        func spread(_ first: Set<Int>, besides silent: Set<Int> = []) -> Set<Int> {
            var found = first
            while true {
                let passing = found.filter {
                    !silent.contains($0) && !silentNames.contains(functions[$0].member.baseName)
                }
                let more = functions.indices.filter { place in
                    !found.contains(place) && calls[place].contains { $0.allSatisfy(passing.contains) }
                }
                if more.isEmpty { return found }
                found.formUnion(more)
            }
        }
        let notes = spread(
            Set(functions.indices.filter { writes(functions[$0], marks, timeNames) }), besides: mayBeDoors)
        let makes = spread(
            Set(functions.indices.filter { functions[$0].member.name.hasPrefix("make(") }))
        let doors = mayBeDoors.filter {
            functions[$0].member.baseName != "make" && (notes.contains($0) || makes.contains($0))
        }
        return (notes.subtracting(doors), doors)
    }

    /// Names whose calls do not say that something is noted: `withMap`, through which all notes are made, and names that the
    /// standard library has too.
    private static let silentNames = RoomedTarget.standardNames.union(["withMap"])

    /// Whether a call may be that of a function of the same name: arguments with a default, and closures, may be left out.
    private static func leavesOut(_ call: String, _ name: String) -> Bool {
        func labels(_ name: String) -> [Substring] {
            name.drop { $0 != "(" }.dropFirst().dropLast().split(separator: ":")
        }
        var rest = labels(name)[...]
        if labels(call).isEmpty ? rest.count > 1 : labels(call).first != rest.first { return false }
        return labels(call).allSatisfy { label in
            guard let place = rest.firstIndex(of: label) else { return false }
            rest = rest[(place + 1)...]
            return true
        }
    }

    /// The names and labels of the calls in a part of a file, without closures behind the parentheses.
    private static func calls(in file: SwiftSource, _ part: Range<Int>) -> Set<String> {
        let tokens = file.tokens
        var found: Set<String> = []
        for place in part
        where tokens[place].kind == .word && place + 1 < tokens.count && tokens[place + 1].text == "(" {
            var labels = ""
            var depth = 0
            var isStart = false
            var next = place + 1
            repeat {
                switch tokens[next].kind == .sign ? tokens[next].text : "" {
                case "(", "[", "{":
                    depth += 1
                    isStart = depth == 1
                case ")", "]", "}":
                    depth -= 1
                    if depth == 0 || isStart { isStart = false }
                case ",": if depth == 1 { isStart = true }
                default:
                    if isStart {
                        let isLabelled = tokens[next].kind == .word && file.isLabel(next)
                        labels += isLabelled ? tokens[next].text + ":" : "_:"
                        isStart = false
                    }
                }
                // An argument that begins with a sign, such as `.name`, has no label.
                if isStart, depth >= 1, next > place + 1, tokens[next].kind == .sign, tokens[next].text != "," {
                    labels += "_:"
                    isStart = false
                }
                next += 1
            } while depth > 0 && next < tokens.count
            found.insert("\(tokens[place].text)(\(labels))")
        }
        return found
    }

    private static let changingCalls: Set = [
        "add", "append", "formUnion", "insert", "merge", "modify", "popLast", "remove", "removeAll", "removeFirst",
        "removeLast", "removeValue", "store", "subtract",
    ]

    private static func writes(
        _ function: Function, _ marks: [String: Set<String>], _ timeNames: Set<String>
    ) -> Bool {
        let file = function.file
        for place in function.member.body where file.tokens[place].kind == .word {
            let name = file.tokens[place].text
            guard let types = marks[name] else { continue }
            let isOwn = !types.isDisjoint(with: function.member.types)
            let isDeclared = place > 0 && ["let", "var"].contains(file.tokens[place - 1].text)
            guard isOwn || timeNames.contains(name) && file.isMember(place), !isDeclared else { continue }
            if isWritten(place, in: file) { return true }
        }
        return false
    }

    /// Whether a property is assigned, changed by a call, or passed `inout`, by itself or in one of its parts.
    private static func isWritten(_ place: Int, in file: SwiftSource) -> Bool {
        let tokens = file.tokens
        func text(_ place: Int) -> String {
            tokens.indices.contains(place) && tokens[place].kind != .literal ? tokens[place].text : ""
        }
        var next = place + 1
        chain: while next < tokens.count {
            switch text(next) {
            case "[":
                var depth = 0
                repeat {
                    if text(next) == "[" { depth += 1 }
                    if text(next) == "]" { depth -= 1 }
                    next += 1
                } while depth > 0 && next < tokens.count
            case "?": next += 1
            case ".":
                if changingCalls.contains(text(next + 1)), text(next + 2) == "(" { return true }
                next += 2
            default: break chain
            }
        }
        if text(next) == "=", text(next + 1) != "=" { return true }
        if ["+", "-", "|"].contains(text(next)), text(next + 1) == "=" { return true }
        var first = place
        while file.isMember(first) { first -= 2 }
        return text(first - 1) == "&" && ["(", ",", ":"].contains(text(first - 2))
    }

    // MARK: Comparisons

    private static func comparesTimes(_ file: SwiftSource, _ timeNames: Set<String>) -> Bool {
        let tokens = file.tokens
        var names = timeNames
        for place in tokens.indices.dropFirst(2)
        where tokens[place].text == "ContextTime" && tokens[place - 1].text == ":" {
            names.insert(tokens[place - 2].text)
        }
        names = names.filter { $0.first?.isLowercase == true }
        for place in tokens.indices.dropFirst().dropLast(2)
        where tokens[place].kind == .sign && ["<", ">"].contains(tokens[place].text) && tokens[place - 1].text != "-" {
            var right = tokens[place + 1].text == "=" ? place + 2 : place + 1
            if tokens[right].kind == .literal || tokens[right].text.first?.isNumber == true { continue }
            while right + 2 < tokens.count, tokens[right + 1].text == ".", tokens[right + 2].kind == .word {
                right += 2
            }
            if names.contains(tokens[place - 1].text) || names.contains(tokens[right].text) { return true }
        }
        return false
    }
}

/// The sizes of ``ContextCore`` and of the public API, read from the text of the sources.
struct ContextCoreCount {
    /// Stored properties of an instance.
    private(set) var stored = 0
    /// Functions, initializers, subscripts and computed properties, in all rooms.
    private(set) var members = 0
    /// The members that other files can call.
    private(set) var visibleMembers = 0
    /// The stored properties that are a lock or an atomic value.
    private(set) var locks = 0
    /// The public types at the top level; not the deprecated aliases.
    private(set) var publicTypes: [String] = []

    init(_ files: [SwiftSource]) {
        for file in files {
            let (types, all) = file.members
            publicTypes += types.filter {
                $0.types.isEmpty && !$0.isExtension && !$0.modifiers.isDisjoint(with: ["public", "open"])
            }.map(\.name)
            for member in all where member.types == ["ContextCore"] {
                guard member.kind == .stored, !member.isStatic else {
                    members += 1
                    if member.modifiers.isDisjoint(with: ["private", "fileprivate"]) { visibleMembers += 1 }
                    continue
                }
                stored += 1
                if file.tokens[member.head].contains(where: { ["RankedMutex", "Atomic"].contains($0.text) }) {
                    locks += 1
                }
            }
        }
        publicTypes.sort()
    }
}
