public import KindredPostgres

/// An enum of the database as a Swift enum, as `kindred generate` writes it.
///
/// A label that the database has got since is read as `unknown`, so that nothing fails because of it.
public protocol DatabaseEnum: RawRepresentable, CaseIterable, Hashable, Codable, PostgresEncodable, PostgresDecodable,
    PropertyValue, NeutralValue
where RawValue == String {
    /// The value of a label, whatever it is.
    init(rawValue: String)
}

extension DatabaseEnum {
    /// The first label; of an enum without labels an unknown one.
    public static var neutralValue: Self { allCases.first ?? Self(rawValue: "") }
}
