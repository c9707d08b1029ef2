import Dispatch
import Foundation

/// The interpreter that runs `peers.py`, one run at a time.
final class PeerProcess: Sendable {
    /// The peers' versions.
    let versions: String

    private let process: Process
    private let requests: Pipe
    private let answers: Pipe
    /// The queue for waiting for answers, which blocks.
    private let queue: DispatchQueue

    /// Starts it; it connects to the database at the first request.
    ///
    /// - Parameter python: The path of an interpreter with the peers' packages.
    init(python: String, serverURI: String, database: String) async throws {
        let (process, requests, answers) = (Process(), Pipe(), Pipe())
        let queue = DispatchQueue(label: "peers")
        process.executableURL = URL(filePath: python)
        process.arguments = [Self.script.path(), serverURI, database]
        process.standardInput = requests
        process.standardOutput = answers
        try process.run()
        (self.process, self.requests, self.answers, self.queue) = (process, requests, answers, queue)
        // Sends nothing before: writing to an ended process would end this one by SIGPIPE.
        versions = try await Self.line(of: answers, on: queue)
    }

    /// Runs work once and returns its rate per second; nil if the peer does not support it.
    func rate(_ peer: Peer, _ work: Peer.Work) async throws -> Double? {
        try requests.fileHandleForWriting.write(contentsOf: Data("\(peer.rawValue) \(work.rawValue)\n".utf8))
        let answer = try await Self.line(of: answers, on: queue)
        if answer == "-" { return nil }
        guard let rate = Double(answer), rate > 0 else { throw PeerError() }
        return rate
    }

    /// Ends it, and so its connections.
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
