// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The enum `public.purchase_status`.
public enum PurchaseStatus: DatabaseEnum {
    /// The label `basket`.
    case basket
    /// The label `paid`.
    case paid
    /// The label `sent`.
    case sent
    /// The label `returned`.
    case returned
    /// A label that the database did not have when this file was written.
    case unknown(String)

    /// The labels known when this file was written, in the database's order.
    public static let allCases: [PurchaseStatus] = [
        .basket,
        .paid,
        .sent,
        .returned,
    ]

    /// The value of a label; `unknown` for one that is not known.
    public init(rawValue: String) {
        switch rawValue {
        case "basket": self = .basket
        case "paid": self = .paid
        case "sent": self = .sent
        case "returned": self = .returned
        default: self = .unknown(rawValue)
        }
    }

    /// The label.
    public var rawValue: String {
        switch self {
        case .basket: "basket"
        case .paid: "paid"
        case .sent: "sent"
        case .returned: "returned"
        case .unknown(let label): label
        }
    }
}
