import Foundation

/// A target's sources, in rooms that are named from the bottom up.
///
/// Read from the text of the sources. A type counts by its name, wherever that stands; a member by its name where it is
/// called or follows a dot, unless other code may declare the same name.
struct RoomedTarget {
    /// The name, in a list of rooms, of the files beside the rooms.
    static let beside = "."

    let rooms: [String]
    let files: [SwiftSource]
    /// The names that the targets and rooms below declare.
    private let namesBelow: Set<String>
    /// Every use of a declaration from above.
    let upwardUses: [Use]

    /// A use of a name that is declared in rooms above only.
    struct Use: Hashable, CustomStringConvertible {
        let name: String
        let path: String
        let line: Int
        let room: String

        var description: String { "\(path):\(line) uses \(name), which \(room) declares" }
    }

    /// Names of members that the standard library or the system declares too, so that their use says nothing.
    static let standardNames: Set<String> = [
        "add", "allKeys", "allSatisfy", "append", "byteCount", "close", "codingPath", "contains", "count", "create",
        "decodeNil", "done", "end", "filter", "first", "get", "hasPrefix", "hasSuffix", "index", "infinity", "insert",
        "inserted", "isEmpty", "isFinite", "isInfinite", "isNaN", "isNumber", "keys", "last", "lazy", "load",
        "lowerBound", "map", "merge", "nestedUnkeyedContainer", "nil", "overflow", "poll", "prefix", "properties",
        "release", "remove", "removeAll", "removeValue", "reserveCapacity", "singleValueContainer", "size", "some",
        "sort", "sorted", "split", "start", "store", "stringValue", "subtract", "unkeyedContainer", "utf8", "values",
        "wait",
    ]

    /// Reads a target.
    ///
    /// - Parameters:
    ///   - rooms: its rooms, from the bottom up.
    ///   - below: the targets that it uses.
    init(_ target: String, rooms: [String], below: [String]) {
        self.rooms = rooms
        files = Self.read(target)
        namesBelow = Self.names(in: below.flatMap(Self.read))
        upwardUses = Self.upwardUses(of: files, rooms, namesBelow: namesBelow)
    }

    /// One of the rooms, whose folders are its rooms.
    ///
    /// - Parameter folders: the folders of the room, from the bottom up.
    func room(_ room: String, folders: [String]) -> RoomedTarget {
        RoomedTarget(room, of: self, folders: folders)
    }

    private init(_ room: String, of target: RoomedTarget, folders: [String]) {
        rooms = folders
        let below = target.rooms.prefix { $0 != room }
        files = target.files.filter { $0.path.hasPrefix("\(room)/") }.map { file in
            var file = file
            file.path = String(file.path.dropFirst(room.count + 1))
            return file
        }
        namesBelow = target.namesBelow.union(
            Self.names(in: target.files.filter { below.contains(Self.room(of: $0.path)) }))
        upwardUses = Self.upwardUses(of: files, rooms, namesBelow: namesBelow)
    }

    private static func names(in files: [SwiftSource]) -> Set<String> {
        Set(files.flatMap(\.declarations).filter { $0.kind != .local }.map(\.name))
    }

    /// The place of a file's room; nil for a file that is in none.
    func level(_ path: String) -> Int? { Self.level(path, rooms) }

    private static func level(_ path: String, _ rooms: [String]) -> Int? { rooms.firstIndex(of: room(of: path)) }

    /// The room of a file; `beside` for a file outside of all rooms.
    func room(of path: String) -> String { Self.room(of: path) }

    private static func room(of path: String) -> String {
        path.firstIndex(of: "/").map { String(path[..<$0]) } ?? beside
    }

    private static func read(_ folder: String) -> [SwiftSource] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/\(folder)")
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let text = (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
            return SwiftSource(path: path, text: text)
        }
    }

    private static func upwardUses(of files: [SwiftSource], _ rooms: [String], namesBelow: Set<String>) -> [Use] {
        var types: [String: Int] = [:]
        var nested: [String: Int] = [:]
        var members: [String: Int] = [:]
        for file in files {
            guard let level = level(file.path, rooms) else { continue }
            for declaration in file.declarations {
                switch declaration.kind {
                case .type where !declaration.isNested:
                    types[declaration.name] = min(level, types[declaration.name] ?? level)
                case .type: nested[declaration.name] = min(level, nested[declaration.name] ?? level)
                case .member: members[declaration.name] = min(level, members[declaration.name] ?? level)
                case .local: break
                }
            }
        }
        // A deprecated alias at the top level has the name of a nested type, which is meant where that stands.
        for (name, level) in types { types[name] = min(level, nested[name] ?? level) }
        var uses: [Use] = []
        for file in files {
            guard let level = level(file.path, rooms) else { continue }
            let own = Set(file.declarations.map(\.name)).union(file.labels)
            for (place, token) in file.tokens.enumerated() where token.kind == .word {
                let declared: Int?
                if let type = types[token.text], !namesBelow.contains(token.text) {
                    declared = type
                } else if let member = members[token.text], !namesBelow.contains(token.text),
                    !standardNames.contains(token.text), !own.contains(token.text), !file.isLabel(place),
                    file.isMember(place) || file.isCalled(place)
                {
                    declared = member
                } else {
                    declared = nil
                }
                guard let declared, declared > level else { continue }
                uses.append(Use(name: token.text, path: file.path, line: token.line, room: rooms[declared]))
            }
        }
        return uses
    }
}
