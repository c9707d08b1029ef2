import KindredPostgres
import KindredSchema

extension DatabaseObject: Encodable {
    /// Writes the attributes as they are in memory, staged values included, NULL as `null`.
    ///
    /// Relationships are left out, loaded or not, so that the text does not depend on earlier reads and circles cannot
    /// arise; `view(_:keys:)` takes them in. So are attributes that are not loaded. The names are the columns' names,
    /// or the properties' where the encoder's `userInfo` says so under ``Swift/CodingUserInfoKey/jsonKeys``. Sends
    /// nothing.
    public func encode(to encoder: any Encoder) throws {
        let keys = encoder.userInfo[.jsonKeys] as? DatabaseObject.JSONKeys ?? .columns
        let row = row
        var container = encoder.container(keyedBy: JSONKey.self)
        for (position, attribute) in entity.attributes.enumerated()
        where !attribute.isHidden && !row.isLeftOut(at: position) {
            let name = keys == .properties ? runtime.propertyName(ofAttribute: position) : nil
            let key = JSONKey(name ?? attribute.name)
            try PostgresValue.encode(row.valueOrRaw(at: position), to: &container, forKey: key)
        }
    }
}
