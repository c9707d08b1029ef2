import Foundation
import KindredPostgres

extension CoreDataModel {
    /// A model's file is at most this large, in bytes; the largest that are known have about two million.
    private static let maximumSize = 16_777_216
    /// The list that names the current version has about 260 bytes; a short one is not deep.
    private static let maximumListSize = 4_096

    /// Reads a model.
    ///
    /// - Parameters:
    ///   - path: A `.xcdatamodeld` folder, whose current version is read; a `.xcdatamodel` folder, which is one version;
    ///     or the `contents` file of a version.
    ///   - version: The version of a `.xcdatamodeld` to read, with or without `.xcdatamodel`; the current one if nil.
    /// - Throws: ``ModelImportError`` `.unreadable`, `.unsupported`, `.malformed` or `.inconsistent`.
    public init(at path: String, version: String? = nil) throws {
        var isFolder: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ModelImportError(.unreadable, "There is no model at \(path)")
        }
        let url = URL(filePath: path, directoryHint: isFolder.boolValue ? .isDirectory : .notDirectory)
        try Self.refuseCompiled(url)
        guard isFolder.boolValue else {
            let folder = url.deletingLastPathComponent()
            let isInVersion = folder.pathExtension == "xcdatamodel"
            try self.init(
                contents: Self.contents(of: url),
                name: (isInVersion ? folder : url).deletingPathExtension().lastPathComponent)
            return
        }
        let folder = try Self.version(of: url, named: version)
        let contents = folder.appending(path: "contents", directoryHint: .notDirectory)
        let binary = folder.appending(path: "elements", directoryHint: .notDirectory)
        if !FileManager.default.fileExists(atPath: contents.path), FileManager.default.fileExists(atPath: binary.path) {
            throw Self.binaryFormat(binary.path)
        }
        guard FileManager.default.fileExists(atPath: contents.path) else {
            throw ModelImportError(
                .unreadable,
                "There is no model in \(folder.path): neither a version (.xcdatamodel) nor a file \"contents\"")
        }
        try self.init(
            contents: Self.contents(of: contents), name: folder.deletingPathExtension().lastPathComponent)
    }

    /// Throws for a model that Xcode has compiled, by its name.
    private static func refuseCompiled(_ url: URL) throws {
        guard ["mom", "momd", "omo"].contains(url.pathExtension) else { return }
        throw ModelImportError(
            .unsupported,
            "\(url.path) is a compiled model (.\(url.pathExtension)), and only its source is read: give the .xcdatamodeld that "
                + "it was made of")
    }

    private static func binaryFormat(_ path: String) -> ModelImportError {
        ModelImportError(
            .unsupported,
            "\(path) has the binary format \"elements\" of Xcode 3, which is not read. Save the model with a newer Xcode, which "
                + "writes a file \"contents\" instead, or take a version of the .xcdatamodeld that has one, with --version"
        )
    }

    /// The folder of the version to read: the named version, the current version, or the only version.
    private static func version(of folder: URL, named version: String?) throws -> URL {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        if folder.pathExtension == "xcdatamodel" || names.isEmpty {
            guard version == nil else {
                throw ModelImportError(.unreadable, "\(folder.path) has no versions to choose from")
            }
            return folder
        }
        let known = names.joined(separator: ", ")
        let choice = "choose one with --version, or give its own path; there are \(known)"
        if let version {
            let name = version.hasSuffix(".xcdatamodel") ? version : "\(version).xcdatamodel"
            guard names.contains(name) else {
                throw ModelImportError(.unreadable, "\(folder.path) has no version \"\(version)\", but \(known)")
            }
            return folder.appending(path: name, directoryHint: .isDirectory)
        }
        let plist = folder.appending(path: ".xccurrentversion", directoryHint: .notDirectory)
        guard FileManager.default.fileExists(atPath: plist.path) else {
            guard names.count == 1 else {
                throw ModelImportError(
                    .unreadable, "\(folder.path) does not say which version is current: \(choice)")
            }
            return folder.appending(path: names[0], directoryHint: .isDirectory)
        }
        let list = try bytes(of: plist)
        guard !list.allSatisfy({ $0 <= 0x20 }) else {
            throw ModelImportError(.malformed, "\(plist.path) is empty and names no current version: \(choice)")
        }
        guard let name = currentVersion(in: list) else {
            throw ModelImportError(
                .malformed, "\(plist.path) is no property list that names the current version: \(choice)")
        }
        // Only a name that stands in the folder, so that it cannot lead out of it.
        guard names.contains(name) else {
            throw ModelImportError(
                .unreadable, "The current version of \(folder.path), \"\(name)\", is not there: \(choice)")
        }
        return folder.appending(path: name, directoryHint: .isDirectory)
    }

    /// The name that a property list gives the current version; nil if it is no such list.
    private static func currentVersion(in bytes: [UInt8]) -> String? {
        guard bytes.count <= maximumListSize, !bytes.containsEntityDeclaration,
            let list = unsafe try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        else { return nil }
        return (list as? [String: Any])?["_XCCurrentVersionName"] as? String
    }

    /// The bytes of a model's file, which is a text.
    private static func contents(of url: URL) throws -> [UInt8] {
        let bytes = try bytes(of: url)
        // A binary property list: the old format, or a compiled model.
        if bytes.starts(with: "bplist".utf8) { throw binaryFormat(url.path) }
        return bytes
    }

    /// The bytes of an ordinary file that is not too large.
    private static func bytes(of url: URL) throws -> [UInt8] {
        let path = url.path
        let attributes: [FileAttributeKey: Any]
        do {
            // The attributes of a link's destination, since its own attributes say nothing.
            attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        } catch {
            throw ModelImportError(.unreadable, "\(path) cannot be read")
        }
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
            throw ModelImportError(.unreadable, "\(path) is no ordinary file")
        }
        let size = (attributes[.size] as? NSNumber)?.intValue ?? Int.max
        guard size <= maximumSize else {
            throw ModelImportError(.unreadable, "\(path) is larger than \(maximumSize >> 20) MB, so it is no model")
        }
        guard let data = try? Data(contentsOf: url), data.count <= maximumSize else {
            throw ModelImportError(.unreadable, "\(path) cannot be read")
        }
        return [UInt8](data)
    }
}

extension [UInt8] {
    /// Whether an entity is declared somewhere, in ASCII; a property list's own DOCTYPE declares none.
    fileprivate var containsEntityDeclaration: Bool {
        let mark = Array("<!ENTITY".utf8)
        guard count >= mark.count else { return false }
        return (0...(count - mark.count)).contains {
            self[$0] == mark[0] && self[$0..<($0 + mark.count)].elementsEqual(mark)
        }
    }
}
