/// A channel's name, compared byte by byte as the server does: two spellings of "é" are two channels.
struct ChannelName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}
