// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The enum `public.mood`.
public enum Mood: DatabaseEnum {
    /// The label `happy`.
    case happy
    /// The label `so-so`.
    case soSo
    /// The label `class`.
    case `class`
    /// The label ``.
    case label
    /// A label that the database did not have when this file was written.
    case unknown(String)

    /// The labels known when this file was written, in the database's order.
    public static let allCases: [Mood] = [
        .happy,
        .soSo,
        .`class`,
        .label,
    ]

    /// The value of a label; `unknown` for one that is not known.
    public init(rawValue: String) {
        switch rawValue {
        case "happy": self = .happy
        case "so-so": self = .soSo
        case "class": self = .`class`
        case "": self = .label
        default: self = .unknown(rawValue)
        }
    }

    /// The label.
    public var rawValue: String {
        switch self {
        case .happy: "happy"
        case .soSo: "so-so"
        case .`class`: "class"
        case .label: ""
        case .unknown(let label): label
        }
    }
}
