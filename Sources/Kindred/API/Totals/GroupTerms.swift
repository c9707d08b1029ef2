extension GroupKeys: QueryTerm {}
extension OptionalGroupKeys: QueryTerm {}
extension GroupKey: QueryTerm {}
extension GroupTotal: QueryTerm {}

// Again for these types by themselves: where a closure gives a list of values, the protocol's members lose to Swift's
// own.
extension GroupKey {
    /// Not available: groups are made by columns.
    @available(*, deprecated, message: "?? is for columns and totals of groups alone")
    public static func ?? (left: GroupKey, right: GroupKey) throws -> GroupKey { throw ColumnMark.noValue }
}

extension GroupTotal {
    /// Not available: a value takes the place of a total that is nil.
    @available(*, deprecated, message: "?? takes a value in place of a total that is nil")
    public static func ?? (left: GroupTotal, right: GroupTotal) throws -> GroupTotal { throw ColumnMark.noValue }
}
