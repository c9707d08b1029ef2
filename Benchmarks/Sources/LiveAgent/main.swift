import Dispatch
import Foundation
import Kindred
import KindredLive

// The program that the oracle of live requests judges: see the README. JSON lines in and out; ends with its input.

// With `--enable TABLE …` it installs change tracking for these tables instead.
if CommandLine.arguments.dropFirst().first == "--enable" {
    let database = try await Database.connect()
    try await database.tracking.install()
    try await database.tracking.enable(Array(CommandLine.arguments.dropFirst(2)))
    exit(0)
}

// The main thread reads, since reading waits.
let connected = Task.detached {
    let agent = LiveAgent(try await LiveAgent.persistently { try await Database.connect() })
    agent.followSchema()
    return agent
}
let (lines, input) = AsyncStream<JSON>.makeStream()
let ended = DispatchSemaphore(value: 0)
Task.detached {
    defer { ended.signal() }
    do {
        let agent = try await connected.value
        for await operation in lines { agent.handle(operation) }
    } catch {
        Output.log("\(error)")
    }
}
let decoder = JSONDecoder()
while let line = readLine() {
    do {
        input.yield(try decoder.decode(JSON.self, from: Data(line.utf8)))
    } catch {
        Output.log("a line that is no JSON: \(error)")
    }
}
input.finish()
ended.wait()
exit(0)
