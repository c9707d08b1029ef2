// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The enum `public.membership_role`.
public enum MembershipRole: DatabaseEnum {
    /// The label `lead`.
    case lead
    /// The label `member`.
    case member
    /// The label `guest`.
    case guest
    /// A label that the database did not have when this file was written.
    case unknown(String)

    /// The labels known when this file was written, in the database's order.
    public static let allCases: [MembershipRole] = [
        .lead,
        .member,
        .guest,
    ]

    /// The value of a label; `unknown` for one that is not known.
    public init(rawValue: String) {
        switch rawValue {
        case "lead": self = .lead
        case "member": self = .member
        case "guest": self = .guest
        default: self = .unknown(rawValue)
        }
    }

    /// The label.
    public var rawValue: String {
        switch self {
        case .lead: "lead"
        case .member: "member"
        case .guest: "guest"
        case .unknown(let label): label
        }
    }
}
