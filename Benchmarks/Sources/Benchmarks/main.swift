import CFloor
import EmbeddedPostgres

let usage = """
    Measures Kindred against libpq in C, on a private server that it starts and removes.

        --pin          client and server on one processor
        --rounds N     how often each is measured (7)
        --only TEXT    those whose name holds the text
    """
var rounds = 7
var only = ""
var isPinned = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--pin": isPinned = true
    case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
    case "--only": only = arguments.popFirst() ?? ""
    default:
        print(usage)
        isPinned = false
        rounds = 0
    }
}
if rounds > 0 {
    // Before anything else: threads and servers inherit it.
    if isPinned && floor_pin() == 0 { print("This system cannot bind a process to a processor") }
    try await Suite(rounds: rounds, only: only, isPinned: isPinned).run()
}
