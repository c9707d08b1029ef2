import Dispatch
import Foundation

/// The interpreter that runs `peers.py`, asked for one run at a time.
final class PeerProcess: Sendable {
    /// Which versions the peers are.
    let versions: String

    private let process: Process
    private let requests: Pipe
    private let answers: Pipe
    /// Where to wait for answers, which blocks.
    private let queue: DispatchQueue

    /// Starts it; it connects to the database when it is first asked for something.
    ///
    /// - Parameter python: The path of an interpreter that has the packages of the peers.
    init(python: String, serverURI: String, database: String) async throws {
        let (process, requests, answers) = (Process(), Pipe(), Pipe())
        let queue = DispatchQueue(label: "peers")
        process.executableURL = URL(filePath: python)
        process.arguments = [Self.script.path(), serverURI, database]
        process.standardInput = requests
        process.standardOutput = answers
        try process.run()
        (self.process, self.requests, self.answers, self.queue) = (process, requests, answers, queue)
        // Nothing is sent before: to write to a process that has ended would end this one.
        versions = try await Self.line(of: answers, on: queue)
    }

    /// Has work done once, and returns how much of it was done per second; nil if the peer does not do it.
    func rate(_ peer: Peer, _ work: Peer.Work) async throws -> Double? {
        try requests.fileHandleForWriting.write(contentsOf: Data("\(peer.rawValue) \(work.rawValue)\n".utf8))
        let answer = try await Self.line(of: answers, on: queue)
        if answer == "-" { return nil }
        guard let rate = Double(answer), rate > 0 else { throw PeerError() }
        return rate
    }

    /// Ends it, and with it its connections.
    func stop() async throws {
        try requests.fileHandleForWriting.close()
        await withCheckedContinuation { continuation in
            queue.async {
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    private static var script: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../peers.py").standardized
    }

    /// Each request has one line as its answer, so that nothing follows it.
    private static func line(of answers: Pipe, on queue: DispatchQueue) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                var line = Data()
                while line.last != UInt8(ascii: "\n") {
                    let bytes = answers.fileHandleForReading.availableData
                    guard !bytes.isEmpty else { return continuation.resume(throwing: PeerError()) }
                    line += bytes
                }
                continuation.resume(returning: String(decoding: line.dropLast(), as: UTF8.self))
            }
        }
    }
}

struct PeerError: Error, CustomStringConvertible {
    let description = "The peers failed, see above"
}
