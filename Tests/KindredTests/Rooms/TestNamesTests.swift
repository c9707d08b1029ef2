import Foundation
import Testing

/// Tests by values of a room's types stand in a folder of the room's name, and a suite's name begins with that of the type.
@Suite struct TestNamesTests {
    private static let tests: [(room: String, suite: String)] = (RoomRulesTests.rooms + ["Live"]).flatMap { room in
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: room)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix("Tests.swift") }.sorted().map { (room, String($0.dropLast(6))) }
    }

    @Test func aSuiteNamesATypeOfItsRoom() {
        #expect(Self.tests.count > 40)
        for (room, suite) in Self.tests {
            let types = RoomRulesTests.layerFiles.filter { $0.path.hasPrefix("\(room)/") }
                .flatMap(\.declarations).filter { $0.kind == .type }.map(\.name)
            #expect(types.contains { suite.hasPrefix($0) }, "\(room)/\(suite)")
        }
    }
}
