import Testing

@testable import KindredPostgres

/// The data and the end that a COPY hands over from the connection's thread to the reading task.
@Suite struct CopyOperationTests {
    @Test func dataThatComesRightBeforeTheEndIsTakenBeforeIt() {
        let operation = CopyOperation(.output)
        if case .nothing = operation.drain().taken {} else { Issue.record("nothing has come") }
        _ = operation.append([1])
        operation.finish(.success([]))
        if case .data(let chunks) = operation.drain().taken {
            #expect(chunks == [[1]])
        } else {
            Issue.record("no data")
        }
        if case .end(.success) = operation.drain().taken {} else { Issue.record("no end") }
    }

    @Test("whoever looks while data and end come in misses nothing") func missesNothing() async {
        for _ in 0..<5_000 {
            let operation = CopyOperation(.output)
            async let writing: Void = {
                for chunk in 0..<3 as Range<UInt8> { _ = operation.append([chunk]) }
                operation.finish(.success([]))
            }()
            var taken: [[UInt8]] = []
            reading: while true {
                switch operation.drain().taken {
                case .data(let chunks): taken += chunks
                case .nothing: await operation.wait { !$0.chunks.isEmpty || $0.result != nil }
                case .end: break reading
                }
            }
            await writing
            #expect(taken == [[0], [1], [2]])
        }
    }
}
