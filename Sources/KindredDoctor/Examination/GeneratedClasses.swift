import Foundation
import KindredGenerator
import KindredPostgres
import KindredSchema

/// The files that `kindred generate` has written to a folder, for ``Doctor`` to compare with the database.
public struct GeneratedClasses: Sendable {
    /// The folder.
    public let folder: String
    /// The texts of its files, by name.
    let files: [String: String]

    /// Reads a folder.
    ///
    /// - Throws: Foundation's error where the folder or one of its files cannot be read.
    public init(folder: String) throws {
        self.folder = folder
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasSuffix(".swift") || name == NameLock.fileName {
            let data = try Data(contentsOf: URL(filePath: folder).appending(path: name))
            files[name] = String(decoding: data, as: UTF8.self)
        }
        self.files = files
    }

    /// The names of the files that would be written otherwise today, or no longer, sorted; nil where the folder holds no
    /// classes, or a lock file that cannot be read.
    ///
    /// Entities without a class are not looked at: a folder may be for some of them only.
    func outdated(against schema: DatabaseSchema) -> [String]? {
        guard let lock = files[NameLock.fileName].flatMap({ try? NameLock(text: $0) }) else { return nil }
        let names = Self.classNames(generator(schema, schema.entities, lock).lock)
        let entities = schema.entities.filter { entity in
            guard let name = names[entity.name.description] else { return false }
            return files["\(name)+Properties.swift"] != nil
        }
        guard !entities.isEmpty else { return nil }
        let generator = generator(schema, entities, lock)
        var outdated = generator.files.filter { !$0.isOwn && files[$0.name] != $0.text }.map(\.name)
        let written = Set(generator.files.map(\.name))
        outdated += files.filter { GeneratedFile.isGenerated($0.value) && !written.contains($0.key) }.map(\.key)
        return outdated.sorted()
    }

    /// The keys of classes where another unique key of their table would be chosen today.
    func otherKeys(against schema: DatabaseSchema) -> [QualifiedName: [String]] {
        guard let lock = files[NameLock.fileName].flatMap({ try? NameLock(text: $0) }) else { return [:] }
        return generator(schema, schema.entities, lock).otherKeys
    }

    private func generator(_ schema: DatabaseSchema, _ entities: [Entity], _ lock: NameLock) -> ModelGenerator {
        let list = files["KindredModels.swift"] ?? ""
        let access = ModelGenerator.Access.allCases.first { list.contains("\n\($0.rawValue) enum KindredModels") }
        return ModelGenerator(schema: schema, entities: entities, access: access ?? .internal, lock: lock)
    }

    /// The names of the classes by entity, as the lock file has them.
    private static func classNames(_ lock: NameLock) -> [String: String] {
        struct Names: Decodable {
            struct Class: Decodable { var name: String }
            var entities: [String: Class]
        }
        let names = try? JSONDecoder().decode(Names.self, from: Data(lock.text.utf8))
        return names?.entities.mapValues(\.name) ?? [:]
    }
}
