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
do {
    try await Tour.run(in: .standard)
} catch {
    Terminal.standard.printError("kindred: \(String(describing: error))")
    exit(1)
}
