#if os(Linux)
    import Foundation

    /// The heap of this process, as the C library counts it.
    enum HeapMemory {
        /// The bytes of all blocks in use; nil where the C library does not tell.
        static var bytesInUse: Int? {
            // By its name: Swift's module of the C library lacks its header.
            typealias Question = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32
            guard let address = dlsym(nil, "malloc_info") else { return nil }
            let ask = unsafeBitCast(address, to: Question.self)
            var (text, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
            guard let file = open_memstream(&text, &size) else { return nil }
            let status = ask(0, file)
            fclose(file)
            defer { free(text) }
            guard status == 0, let text else { return nil }
            return bytesInUse(in: String(cString: text))
        }

        /// All that the system has given, less the free blocks, and the blocks that have pages of their own.
        private static func bytesInUse(in text: String) -> Int? {
            // The totals stand behind the arenas.
            guard let end = text.range(of: "</heap>", options: .backwards)?.upperBound else { return nil }
            let totals = text[end...]
            func size(of type: String) -> Int? {
                guard let start = totals.range(of: "type=\"\(type)\"")?.upperBound,
                    let value = totals[start...].range(of: "size=\"")?.upperBound
                else { return nil }
                return Int(totals[value...].prefix { $0.isNumber })
            }
            guard let system = size(of: "current"), let fast = size(of: "fast"), let rest = size(of: "rest"),
                let pages = size(of: "mmap")
            else { return nil }
            return system - fast - rest + pages
        }
    }
#endif
