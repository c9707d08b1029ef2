import CFloor
import Dispatch
import Foundation
import Kindred
import Synchronization

let usage = """
    Measures Kindred against libpq in C, on a private server that it starts and removes, or on the one that
    DATABASE_URL names, in databases of its own.

        --pin          client and server on one processor
        --tcp          over TCP (port 5432 of this machine has to be free) instead of a unix socket
        --rounds N     how often each is measured (7)
        --only TEXT    those whose name holds the text
        --alone        without libpq's side, for profilers
        --executor     Kindred's tasks prefer `PostgresExecutor`
        --peers PATH   with SQLAlchemy and asyncpg beside it, in the Python interpreter at that path, which has the
                       packages sqlalchemy, psycopg[binary] and asyncpg

        --pooler URI   only many tasks, through a pooler of transactions at that address before the server of DATABASE_URL,
                       which keeps prepared statements for each connection, 150 or more

        --counts       counts statements, allocations and instructions instead, and fails if one has grown
        --without-instructions
                       with --counts: leaves out what callgrind takes minutes to count
        --growth       counts what an object costs while other things grow
        --live         measures live requests: latency, list, load, routing, single
        --update       with --counts: saves them as those that the next are compared with
    """
var rounds = 7
var only = ""
var isPinned = false
var usesTCP = false
var isAlone = false
var prefersExecutor = false
var python: String?
var pooler: String?
var counts = false
var growth = false
var live = false
var updates = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--pin": isPinned = true
    case "--tcp": usesTCP = true
    case "--alone": isAlone = true
    case "--executor": prefersExecutor = true
    case "--peers": python = arguments.popFirst()
    case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
    case "--only": only = arguments.popFirst() ?? ""
    case "--pooler": pooler = arguments.popFirst()
    case "--counts": counts = true
    case "--without-instructions": break  // Callgrind reads it
    case "--growth": growth = true
    case "--live": live = true
    case "--update": updates = true
    default:
        print(usage)
        exit(argument == "--help" ? 0 : 2)
    }
}
// First, because threads and servers inherit it.
if isPinned && floor_pin() == 0 { print("This system cannot bind a process to a processor") }
let suite = Suite(
    rounds: rounds, only: only, isPinned: isPinned, usesTCP: usesTCP, isAlone: isAlone, python: python, pooler: pooler)
let countSuite = CountSuite(only: only, updates: updates)
let growthSuite = GrowthSuite(only: only)
let liveSuite = LiveSuite(only: only)
let (isCounting, isGrowing, isLive) = (counts, growth, live)
let isSuccess = Mutex(false)
// The main thread waits instead of becoming an executor, because valgrind crashes on that.
let end = DispatchSemaphore(value: 0)
Task.detached(executorPreference: prefersExecutor ? PostgresExecutor.shared : nil) {
    defer { end.signal() }
    do {
        var result = true
        if isCounting {
            result = try await countSuite.run()
        } else if isGrowing {
            try await growthSuite.run()
        } else if isLive {
            try await liveSuite.run()
        } else {
            try await suite.run()
        }
        isSuccess.withLock { $0 = result }
    } catch {
        print("\(error)")
    }
}
end.wait()
exit(isSuccess.withLock { $0 } ? 0 : 1)
