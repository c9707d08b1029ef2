import KindredPostgres

/// How much a finding matters.
public enum DoctorLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Worth knowing; nothing is wrong.
    case note
    /// Slow, fragile or misleading, and better repaired.
    case warning
    /// Something does not work, or will fail.
    case error

    /// Whether the left level matters less.
    public static func < (left: Self, right: Self) -> Bool {
        left.place < right.place
    }

    private var place: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }
}
