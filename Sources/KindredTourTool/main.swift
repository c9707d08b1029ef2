import KindredTerminal
import KindredTour

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// `bin/demo`: the tour of `kindred demo` alone.
let terminal = Terminal.standard
do {
    try await Tour.run(in: terminal)
} catch {
    terminal.printError("kindred: \(String(describing: error))")
    exit(1)
}
if let reason = terminal.outputFailure {
    terminal.printError("kindred: The output could not be written: \(reason).")
    exit(1)
}
