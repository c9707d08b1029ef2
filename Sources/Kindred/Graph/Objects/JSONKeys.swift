import KindredPostgres

extension DatabaseObject {
    /// The names by which objects are written as JSON.
    public enum JSONKeys: Sendable, Hashable {
        /// The names of columns and relationships: `category_id`.
        case columns
        /// The names of properties where the entity has a class that names them, else of columns: `categoryID`.
        case properties
    }
}

extension CodingUserInfoKey {
    // The initializer is declared to fail, and never does.
    /// The names by which an encoder writes objects; set it to a ``DatabaseObject/JSONKeys``.
    ///
    /// ```swift
    /// encoder.userInfo[.jsonKeys] = DatabaseObject.JSONKeys.properties
    /// ```
    public static let jsonKeys = CodingUserInfoKey(rawValue: "kindred.jsonKeys")!
}
