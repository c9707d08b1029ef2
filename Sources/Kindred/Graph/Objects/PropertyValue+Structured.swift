public import KindredPostgres

// Values of networks, geometry, text search, and those that have parts.
extension PostgresInet: PropertyValue {}
extension PostgresMACAddress: PropertyValue {}
extension PostgresBits: PropertyValue {}
extension PostgresMoney: PropertyValue {}
extension PostgresPoint: PropertyValue {}
extension PostgresLine: PropertyValue {}
extension PostgresLineSegment: PropertyValue {}
extension PostgresBox: PropertyValue {}
extension PostgresPath: PropertyValue {}
extension PostgresPolygon: PropertyValue {}
extension PostgresCircle: PropertyValue {}
extension PostgresTSVector: PropertyValue {}
extension PostgresTSQuery: PropertyValue {}
extension PostgresHStore: PropertyValue {}
extension PostgresVector: PropertyValue {}
extension PostgresComposite: PropertyValue {}
extension PostgresRange: PropertyValue where Bound: PostgresEncodable {}
extension PostgresMultirange: PropertyValue where Bound: PostgresEncodable {}
