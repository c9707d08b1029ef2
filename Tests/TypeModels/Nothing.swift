// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The enum `public.nothing`.
public enum Nothing: DatabaseEnum {
    /// A label that the database did not have when this file was written.
    case unknown(String)

    /// The labels known when this file was written, in the database's order.
    public static let allCases: [Nothing] = []

    /// The value of a label; `unknown` for one that is not known.
    public init(rawValue: String) {
        switch rawValue {
        default: self = .unknown(rawValue)
        }
    }

    /// The label.
    public var rawValue: String {
        switch self {
        case .unknown(let label): label
        }
    }
}
