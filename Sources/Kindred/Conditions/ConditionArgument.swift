package import KindredPostgres

/// What a placeholder of a format string stands for.
package enum ConditionArgument: Sendable {
    /// NULL, or no object.
    case null
    /// One value; a string where the format has `%K`.
    case value(PostgresValue)
    /// Values for IN, BETWEEN, or a comparison with an array attribute.
    case list([PostgresValue?])
    /// One object.
    case object(any ObjectReference)
    /// Objects for IN.
    case objects([any ObjectReference])
}
