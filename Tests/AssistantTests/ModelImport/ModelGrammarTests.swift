import Foundation
import KindredModelImport
import TestSupport
import Testing

@Suite struct ModelGrammarTests {
    @Test func everyPartIsReadOrRemarked() throws {
        let model = try ModelFixture.model("Everything")
        #expect(model.name == "Everything")
        #expect(model.entities.map(\.name) == ["Base", "Thing", "Owner"])
        let thing = model.entities[1]
        #expect(thing.parent == "Base" && model.entities[0].isAbstract && !thing.isAbstract)
        #expect(model.entities[0].identity.elementID == "12-34")
        #expect(model.entities[0].userInfo.map { [$0.key, $0.value] } == [["owner", "it's ours"]])
        let code = try #require(thing.attributes.first { $0.name == "code" })
        #expect(code.pattern == #"[A-Z]{2}-\d+"# && code.minimum == "4" && code.maximum == "10" && !code.isOptional)
        let created = try #require(model.entities[0].attributes.first)
        #expect(created.defaultValue == "-725882400" && created.minimum == "-1000000000")
        let owners = try #require(thing.relationships.first { $0.name == "owners" })
        #expect(owners.isToMany && owners.minimumCount == 1 && owners.maximumCount == 2 && owners.inverse == "things")
        #expect(thing.indexes.map(\.name) == ["byBig", "byPlace", "byLength"])
        #expect(thing.indexes[0].elements.map(\.isDescending) == [true, false])
        #expect(model.entities[2].indexes.map { $0.elements.map(\.property) } == [["name"], ["name", "created"]])
        #expect(model.composites.map(\.name) == ["Address"] && model.configurations.map(\.entities) == [["Owner"]])
        let remarks = model.remarks.map(\.description)
        for wanted in [
            "omitted: Base: the attribute futureXcodeFlag=\"YES\" is unknown",
            "omitted: Thing.weird: the attribute someUnknownKey=\"42\" is unknown",
            "omitted: Thing.futureElement: the element is unknown",
            "omitted: Thing.recent: a fetched property belongs in the program, as a FetchRequest",
            "omitted: AllThings: a fetch request belongs in the program, as a FetchRequest",
            "ignored: representedClassName: classes come from `kindred generate`; 3 in the model",
            "ignored: elements: they are places in Xcode's drawing; 1 in the model",
        ] {
            #expect(remarks.contains(wanted), "\(wanted)")
        }
    }

    @Test func whateverIsAddedIsRemarked() throws {
        let text = String(
            decoding: try Data(
                contentsOf: URL(filePath: ModelFixture.path("Everything") + "/Everything.xcdatamodel/contents")),
            as: UTF8.self)
        let plain = try CoreDataModel(contents: Array(text.utf8), name: "x").remarks.count
        // Every element in turn gets an unknown attribute, text and an unknown element.
        let tags = text.ranges(of: try Regex("<[a-zA-Z]+ [^>]*[^/?]>|<[a-zA-Z]+ [^>]*/>"))
        #expect(tags.count > 40)
        for tag in tags {
            let element = String(text[tag])
            let end = element.hasSuffix("/>") ? "/>" : ">"
            let name = element.dropFirst().prefix { $0 != " " }
            let start = element.dropLast(end.count)
            var changed = text
            changed.replaceSubrange(tag, with: "\(start) unheardOf=\"1\"\(end)")
            // Elements in a drawing, or in a part that is left out as a whole, are left out with it.
            if ["element", "fetchRequest", "futureElement", "fetchedProperty"].contains(name) { continue }
            #expect(
                try CoreDataModel(contents: Array(changed.utf8), name: "x").remarks.count == plain + 1, "\(element)")
            changed = text
            let close = end == "/>" ? "</\(name)>" : ""
            changed.replaceSubrange(tag, with: "\(start)><unheardOf/>\(close)")
            #expect(
                try CoreDataModel(contents: Array(changed.utf8), name: "x").remarks.count == plain + 1, "\(element)")
            changed = text
            changed.replaceSubrange(tag, with: "\(start)>words\(close)")
            #expect(
                try CoreDataModel(contents: Array(changed.utf8), name: "x").remarks.count == plain + 1, "\(element)")
        }
    }

    @Test func theCurrentVersionIsReadAndOthersCanBeNamed() throws {
        #expect(try ModelFixture.model("Grocery").name == "Grocery Deny")
        #expect(try ModelFixture.model("Grocery", version: "Grocery Cascade").name == "Grocery Cascade")
        #expect(try ModelFixture.model("Grocery", version: "Grocery Cascade.xcdatamodel").name == "Grocery Cascade")
        let folder = ModelFixture.path("Grocery") + "/Grocery No Action.xcdatamodel"
        #expect(try CoreDataModel(at: folder).name == "Grocery No Action")
        #expect(try CoreDataModel(at: folder + "/contents").name == "Grocery No Action")
    }

    @Test func aVersionLeadsNowhereElse() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let outer = folder.appending(path: "Outer.xcdatamodel")
        let model = folder.appending(path: "M.xcdatamodeld")
        for version in [outer, model.appending(path: "A.xcdatamodel"), model.appending(path: "B.xcdatamodel")] {
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data("<model><entity name='E'/></model>".utf8).write(to: version.appending(path: "contents"))
        }
        func expectFailure(_ code: ModelImportError.Code, _ part: String, _ plist: String?) throws {
            let file = model.appending(path: ".xccurrentversion")
            try? FileManager.default.removeItem(at: file)
            if let plist { try Data(plist.utf8).write(to: file) }
            let error = #expect(throws: ModelImportError.self) { try CoreDataModel(at: model.path) }
            #expect(error?.code == code && error?.message.contains(part) == true, "\(String(describing: error))")
        }
        func plist(_ name: String) -> String {
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>
            """
        }
        try expectFailure(.unreadable, "which version is current", nil)
        try expectFailure(.unreadable, "is not there", plist("../Outer.xcdatamodel"))
        try expectFailure(.unreadable, "is not there", plist("/etc"))
        try expectFailure(.unreadable, "is not there", plist("C.xcdatamodel"))
        try expectFailure(.malformed, "property list", "<plist>")
        let deep = "<plist version='1.0'>" + String(repeating: "<array>", count: 560)
        try expectFailure(.malformed, "property list", deep)
        try expectFailure(.malformed, "property list", plist("B.xcdatamodel") + String(repeating: " ", count: 4_096))
        try expectFailure(
            .malformed, "property list", "<!DOCTYPE p [<!ENTITY a 'A.xcdatamodel'>]><plist version='1.0'>&a;</plist>")
        try Data(plist("B.xcdatamodel").utf8).write(to: model.appending(path: ".xccurrentversion"))
        #expect(try CoreDataModel(at: model.path).name == "B")
        try FileManager.default.removeItem(at: model.appending(path: "B.xcdatamodel/contents"))
        try FileManager.default.createDirectory(
            at: model.appending(path: "B.xcdatamodel/contents"), withIntermediateDirectories: true)
        #expect(throws: ModelImportError.self) { try CoreDataModel(at: model.path) }
        #expect(throws: ModelImportError.self) { try CoreDataModel(at: folder.path + "/nothing") }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "empty"), withIntermediateDirectories: true)
        #expect(throws: ModelImportError.self) { try CoreDataModel(at: folder.path + "/empty") }
    }

    @Test func aVersionFileThatNamesNoneLeadsToAChoice() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appending(path: "M.xcdatamodeld")
        for name in ["A", "B"] {
            let version = model.appending(path: "\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data("<model><entity name='E'/></model>".utf8).write(to: version.appending(path: "contents"))
        }
        for (text, part) in [
            ("", "is empty"), ("\n", "is empty"), ("<plist version='1.0'><dict/></plist>", "is no property list"),
        ] {
            try Data(text.utf8).write(to: model.appending(path: ".xccurrentversion"))
            let error = #expect(throws: ModelImportError.self) { try CoreDataModel(at: model.path) }
            let message = error?.message ?? ""
            #expect(
                message.contains(".xccurrentversion \(part)") && message.contains("--version")
                    && message.hasSuffix("there are A.xcdatamodel, B.xcdatamodel"), "\(message)")
            #expect(try CoreDataModel(at: model.path, version: "A").name == "A")
            #expect(try CoreDataModel(at: model.path + "/B.xcdatamodel").name == "B")
        }
    }

    @Test func formatsThatAreNoTextAreRefusedByName() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (model, compiled) = (folder.appending(path: "M.xcdatamodeld"), folder.appending(path: "M.momd"))
        let (old, new) = (model.appending(path: "Old.xcdatamodel"), model.appending(path: "New.xcdatamodel"))
        for folder in [old, new, compiled] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let binary = Data("bplist00".utf8) + Data([0xD4, 0, 1, 0xFF])
        try binary.write(to: old.appending(path: "elements"))
        try binary.write(to: old.appending(path: "layout"))
        try binary.write(to: compiled.appending(path: "M.mom"))
        try binary.write(to: folder.appending(path: "renamed"))
        try Data("<model><entity name='E'/></model>".utf8).write(to: new.appending(path: "contents"))
        func expectRefusal(_ path: String, _ version: String? = nil, names parts: String...) {
            let error = #expect(throws: ModelImportError.self) { try CoreDataModel(at: path, version: version) }
            #expect(error?.code == .unsupported, "\(path): \(String(describing: error))")
            for part in parts { #expect(error?.message.contains(part) == true, "\(path): \(error?.message ?? "")") }
        }
        expectRefusal(old.path, names: "\"elements\"", "--version")
        expectRefusal(model.path, "Old", names: "\"elements\"", "--version")
        expectRefusal(old.path + "/elements", names: "\"elements\"")
        expectRefusal(folder.path + "/renamed", names: "binary format")
        expectRefusal(compiled.path, names: "compiled model (.momd)", ".xcdatamodeld")
        expectRefusal(compiled.path + "/M.mom", names: "compiled model (.mom)")
        #expect(try CoreDataModel(at: model.path, version: "New").name == "New")
        // A file of drawings beside the text says nothing.
        try binary.write(to: new.appending(path: "elements"))
        #expect(try CoreDataModel(at: new.path).name == "New")
    }

    @Test(arguments: [
        ("<entity name='A'/><entity name='A'/>", "two parts of the name \"A\""),
        ("<entity name='A' parentEntity='B'/><entity name='B' parentEntity='A'/>", "its own ancestor"),
        ("<entity name='A' parentEntity='A'/>", "its own ancestor"),
        ("<entity/>", "has no name"),
        ("<entity name='A'><attribute attributeType='String'/></entity>", "of A has no name"),
        (
            "<entity name='A'><attribute name='x' attributeType='String'/><relationship name='x'/></entity>",
            "two parts of the name \"x\""
        ),
        ("<entity name='a&#10;b'/>", "control characters"),
        ("<entity name='a&#x202E;b'/>", "control characters"),
    ])
    func aModelThatContradictsItselfIsRefused(_ xml: String, _ part: String) throws {
        let error = #expect(throws: ModelImportError.self) { try ModelFixture.model(xml: xml) }
        #expect(error?.code == .inconsistent && error?.message.contains(part) == true, "\(String(describing: error))")
    }

    @Test func modelsThatNobodyHasAreRefusedBeforeTheyCostTime() throws {
        func entities(_ count: Int, _ make: (Int) -> String) -> String { (0..<count).map(make).joined() }
        let attributes = entities(1_601) { "<attribute name='a\($0)' attributeType='String'/>" }
        let relatives = entities(20) { part in
            let own = entities(100) { "<attribute name='a\(part)_\($0)' attributeType='String'/>" }
            return "<entity name='E\(part)'\(part > 0 ? " parentEntity='E0'" : "")>\(own)</entity>"
        }
        for (xml, part) in [
            (entities(3_000) { "<entity name='E\($0)' parentEntity='E\($0 + 1)'/>" }, "ancestors"),
            (entities(5_001) { "<entity name='E\($0)'/>" }, "5000 entities"),
            ("<entity name='E'>\(attributes)</entity>", "1600 columns"),
            (relatives, "1600 columns"),
        ] {
            let error = #expect(throws: ModelImportError.self) { try ModelImport(ModelFixture.model(xml: xml)) }
            #expect(
                error?.code == .inconsistent && error?.message.contains(part) == true, "\(String(describing: error))")
        }
        let line = entities(99) { "<entity name='E\($0)' parentEntity='E\($0 + 1)'/>" } + "<entity name='E99'/>"
        #expect(try ModelImport(ModelFixture.model(xml: line)).statements.count == 1)
        #expect(try ModelImport(ModelFixture.model(xml: relatives), .init(inheritance: .joined)).statements.count > 20)
    }

    // MARK: Hostile files

    @Test(arguments: [
        ("<!DOCTYPE model [<!ENTITY a 'aaaa'>]><model/>", "declaration"),
        ("<!DOCTYPE model SYSTEM 'file:///etc/passwd'><model/>", "declaration"),
        ("<model/><!ENTITY a 'b'>", "declaration"),
        ("<model a='&lol;'/>", "entity that XML itself does not have"),
        ("<model>&lol;</model>", "entity that XML itself does not have"),
        ("<model>&</model>", "begins no reference"),
        ("<?xml version='1.0' encoding='UTF-16'?><model/>", "encoding"),
        ("<?xml version='1.0' encoding='UTF-7'?><model/>", "encoding"),
        ("<model", "ends within a tag"),
        ("<model a='", "ends within an attribute"),
        ("<model><entity name='x'>", "ends within an element"),
        ("</model>", "not open"),
        ("<model a='<'/>", "holds a <"),
        ("<model><!-- ", "ends within markup"),
        ("", "no element"),
        ("{}", "no element"),
        ("<model/>\0", "NUL"),
        ("<model></entity>", "well-formed"),
        ("<model a='1' a='2'/>", "well-formed"),
        ("<model/><model/>", "well-formed"),
        ("<model a=1/>", "well-formed"),
        ("<html/>", "not the \"model\""),
    ])
    func hostileAndBrokenXMLIsRefused(_ text: String, _ part: String) throws {
        let error = #expect(throws: ModelImportError.self) { try CoreDataModel(contents: Array(text.utf8), name: "x") }
        #expect(error?.code == .malformed && error?.message.contains(part) == true, "\(String(describing: error))")
    }

    @Test func depthSizeAndEncodingsAreLimited() throws {
        func expectRefusal(_ bytes: [UInt8], _ part: String) {
            let error = #expect(throws: ModelImportError.self) { try CoreDataModel(contents: bytes, name: "x") }
            #expect(error?.code == .malformed && error?.message.contains(part) == true, "\(String(describing: error))")
        }
        expectRefusal(Array(String(repeating: "<a>", count: 100_000).utf8), "deep")
        expectRefusal(Array("<model>\(String(repeating: "<a/>", count: 200_001))</model>".utf8), "200000 elements")
        expectRefusal(Array("<model a='\(String(repeating: "x", count: 1_100_000))'/>".utf8), "longer than")
        expectRefusal([0xFF, 0xFE] + Array("<model/>".utf8).flatMap { [$0, 0] }, "UTF-8")
        expectRefusal([0x3C, 0xC3, 0x28], "UTF-8")
        // A text that looks like a declaration within a comment or a text is none.
        let fine =
            "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><!-- <!DOCTYPE x> & --><model><![CDATA[<!ENTITY]]></model>"
        #expect(throws: Never.self) { try CoreDataModel(contents: Array(fine.utf8), name: "x") }
    }

    @Test func damagedModelsNeverEndTheProcess() throws {
        let files = try ModelFixture.allContents()
        var random = SeededGenerator(seed: 8)
        var read = 0
        for round in 0..<min(Fuzzing.count, 1_500) {
            let file = random.pick(files)
            // Bytes that are damaged are mostly refused; values that change places are read and planned.
            let bytes = round % 2 == 0 ? random.damaged(file) : Self.exchanged(file, random.pick(files), &random)
            guard let model = try? CoreDataModel(contents: bytes, name: "x") else { continue }
            read += 1
            let before = try CoreDataModel(contents: file, name: "y")
            for inheritance in ModelImportOptions.Inheritance.allCases {
                _ = try? ModelImport(model, ModelImportOptions(inheritance: inheritance))
                let options = ModelImportOptions(inheritance: inheritance, allowsDrops: random.chance(50))
                _ = try? ModelMigration(from: before, to: model, options)
                _ = try? ModelMigration(from: model, to: before, options)
            }
        }
        #expect(read > 500)
    }

    /// The first file with some of its quoted values replaced by values of the second.
    private static func exchanged(_ file: [UInt8], _ other: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        func parts(_ bytes: [UInt8]) -> [String] {
            String(decoding: bytes, as: UTF8.self).split(separator: "\"", omittingEmptySubsequences: false).map(
                String.init)
        }
        var (mine, theirs) = (parts(file), parts(other))
        theirs += ["", "-1", "99999999999999999999", "YES", "é\u{301}", "a__b", "&#10;", "[a-z", "x\u{202E}"]
        for _ in 0...Int.random(in: 0...4, using: &random) {
            // Every second part stands within quotes.
            let place = Int.random(in: 3..<(mine.count / 2), using: &random) * 2 + 1
            if mine.indices.contains(place) {
                mine[place] = random.pick(theirs.filter { !$0.contains("<") && !$0.contains(">") })
            }
        }
        return Array(mine.joined(separator: "\"").utf8)
    }
}
