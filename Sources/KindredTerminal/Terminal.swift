import HarmlessText
import Synchronization

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

/// A command's output: a real terminal, a pipe, or a test's memory.
public struct Terminal: Sendable {
    /// The environment variables that commands see.
    package let environment: [String: String]
    package let usesStyles: Bool
    private let write: @Sendable (String) -> String?
    private let writeError: @Sendable (String) -> Void
    private let output = Output()

    private init(
        environment: [String: String],
        usesStyles: Bool,
        write: @escaping @Sendable (String) -> String?,
        writeError: @escaping @Sendable (String) -> Void
    ) {
        self.environment = environment
        self.usesStyles = usesStyles
        self.write = write
        self.writeError = writeError
    }

    /// The state of standard output: why it failed, if it did.
    private final class Output: Sendable {
        let failure = Mutex<String?>(nil)
    }

    /// Why standard output could not be written, such as that the disk is full; nil if all of it was.
    ///
    /// Nothing is written after the first failure, since the output would have a gap.
    package var outputFailure: String? { output.failure.withLock { $0 } }

    /// The process's own output and environment.
    ///
    /// Styles are used if standard output is a terminal, `TERM` is not `dumb` and `NO_COLOR` is not set.
    public static var standard: Terminal {
        let environment = ProcessInfo.processInfo.environment
        return Terminal(
            environment: environment,
            usesStyles: isatty(1) == 1 && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty,
            write: { writeAll($0, to: 1) },
            writeError: { _ = writeAll($0, to: 2) })
    }

    /// Opens the numbers of standard input, output and error where the caller has closed them; to be called first.
    ///
    /// Otherwise a socket could get such a number, and with it the printed text. Writing to the opened numbers fails.
    package static func reserveDescriptors() {
        while true {
            let descriptor = unsafe open("/dev/null", O_RDONLY)
            if descriptor > 2 { close(descriptor) }
            if !(0...2).contains(descriptor) { return }
        }
    }

    /// A command's output, for tests.
    public final class Capture: Sendable {
        private let texts = Mutex((output: "", error: ""))

        fileprivate init() {}

        /// Standard output so far.
        public var output: String { texts.withLock { $0.output } }

        /// Standard error so far.
        public var error: String { texts.withLock { $0.error } }

        fileprivate func append(_ text: String, isError: Bool) {
            texts.withLock { isError ? ($0.error += text) : ($0.output += text) }
        }
    }

    /// Makes a terminal in memory.
    ///
    /// - Parameters:
    ///   - environment: The environment variables that commands see; empty by default.
    ///   - usesStyles: Whether to write escape sequences, as on a real terminal.
    /// - Returns: The terminal and its memory.
    public static func captured(
        environment: [String: String] = [:],
        usesStyles: Bool = false
    ) -> (terminal: Terminal, capture: Capture) {
        let capture = Capture()
        let terminal = Terminal(
            environment: environment,
            usesStyles: usesStyles,
            write: {
                capture.append($0, isError: false)
                return nil
            },
            writeError: { capture.append($0, isError: true) })
        return (terminal, capture)
    }

    /// Writes text of several lines to standard output, with terminal control characters escaped.
    package func printLines(_ text: String) {
        put(text.harmlessLines(indentation: ""))
    }

    /// Writes a line to standard output.
    package func print(_ line: TerminalText = "") {
        put(line.written + "\n")
    }

    private func put(_ text: String) {
        output.failure.withLock { failure in
            if failure == nil { failure = write(text) }
        }
    }

    /// Writes a line to standard error.
    package func printError(_ line: TerminalText) {
        writeError(line.written + "\n")
    }
}

/// Writes unbuffered, so that output and errors stay in order; returns the system's reason if it could not.
private func writeAll(_ text: String, to descriptor: Int32) -> String? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        // If the reader is gone, SIGPIPE ends the process, as usual for tools.
        let count = unsafe rest.withUnsafeBytes { bytes in
            #if canImport(Darwin)
                unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Glibc)
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #else
                unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
        }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            // Another process that shares the pipe may have made it return at once.
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&ready, 1, -1)
        } else if errno != EINTR {
            return unsafe String(cString: strerror(errno))
        }
    }
    return nil
}
