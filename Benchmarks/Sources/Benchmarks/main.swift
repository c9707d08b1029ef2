import CFloor
import Dispatch

let usage = """
    Measures Kindred against libpq in C, on a private server that it starts and removes, or on the one that
    DATABASE_URL names, in databases of its own.

        --pin          client and server on one processor
        --rounds N     how often each is measured (7)
        --only TEXT    those whose name holds the text
        --alone        without libpq's side, for profilers
    """
var rounds = 7
var only = ""
var isPinned = false
var isAlone = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--pin": isPinned = true
    case "--alone": isAlone = true
    case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
    case "--only": only = arguments.popFirst() ?? ""
    default:
        print(usage)
        rounds = 0
    }
}
if rounds > 0 {
    // Before anything else: threads and servers inherit it.
    if isPinned && floor_pin() == 0 { print("This system cannot bind a process to a processor") }
    let suite = Suite(rounds: rounds, only: only, isPinned: isPinned, isAlone: isAlone)
    // The main thread waits rather than become an executor: valgrind does not survive how that is done.
    let end = DispatchSemaphore(value: 0)
    Task.detached {
        defer { end.signal() }
        do {
            try await suite.run()
        } catch {
            print("\(error)")
        }
    }
    end.wait()
}
