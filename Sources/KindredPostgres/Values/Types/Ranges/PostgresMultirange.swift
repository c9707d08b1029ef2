/// A multirange such as `int4multirange`: ranges with gaps between them.
///
/// The server sorts the ranges, merges those that touch and drops empty ones.
public struct PostgresMultirange<Bound: Hashable & Sendable>: Hashable, Sendable {
    /// The ranges.
    public let ranges: [PostgresRange<Bound>]

    /// A multirange of ranges, in any order.
    public init(_ ranges: [PostgresRange<Bound>]) {
        self.ranges = ranges
    }
}

extension PostgresMultirange: CustomStringConvertible where Bound: CustomStringConvertible {
    /// The multirange as the server prints it: `{[1,5),[7,9)}`.
    public var description: String { "{\(ranges.map(\.description).joined(separator: ","))}" }
}
