public import KindredPostgres

/// An enum of the database as a Swift enum, as `kindred generate` writes it.
///
/// A label added to the database later is read as `unknown`, and causes no error.
public protocol DatabaseEnum: RawRepresentable, CaseIterable, Hashable, Codable, PostgresEncodable, PostgresDecodable,
    PropertyValue, NeutralValue
where RawValue == String {
    /// The value of a label, also of an unknown one.
    init(rawValue: String)
}

extension DatabaseEnum {
    /// The first label; an unknown one if the enum has no labels.
    public static var neutralValue: Self { allCases.first ?? Self(rawValue: "") }
}
