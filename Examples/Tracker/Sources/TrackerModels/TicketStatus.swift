// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The enum `public.ticket_status`.
public enum TicketStatus: DatabaseEnum {
    /// The label `open`.
    case open
    /// The label `active`.
    case active
    /// The label `done`.
    case done
    /// A label that the database did not have when this file was written.
    case unknown(String)

    /// The labels known when this file was written, in the database's order.
    public static let allCases: [TicketStatus] = [
        .open,
        .active,
        .done,
    ]

    /// The value of a label; `unknown` for one that is not known.
    public init(rawValue: String) {
        switch rawValue {
        case "open": self = .open
        case "active": self = .active
        case "done": self = .done
        default: self = .unknown(rawValue)
        }
    }

    /// The label.
    public var rawValue: String {
        switch self {
        case .open: "open"
        case .active: "active"
        case .done: "done"
        case .unknown(let label): label
        }
    }
}
