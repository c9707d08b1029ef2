import KindredPostgres

// Comparisons with values of another type, which do not compile: without these declarations the compiler finds nothing
// that fits, and says "failed to produce diagnostic" or "cannot convert" of some other overload.
extension ColumnExpression {
    /// Not available: a column is compared with values of its own type.
    @available(
        *, unavailable, message: "a column is compared with values of its own type, or with a column of that type"
    )
    @_disfavoredOverload
    public static func == <Other>(left: ColumnExpression, right: Other) -> Condition { left.misfit }

    /// Not available: a column is compared with values of its own type.
    @available(
        *, unavailable, message: "a column is compared with values of its own type, or with a column of that type"
    )
    @_disfavoredOverload
    public static func != <Other>(left: ColumnExpression, right: Other) -> Condition { left.misfit }

    /// Not available: a column is compared with values of its own type.
    @available(
        *, unavailable, message: "a column is compared with values of its own type, or with a column of that type"
    )
    @_disfavoredOverload
    public static func < <Other>(left: ColumnExpression, right: Other) -> Condition { left.misfit }

    /// Not available: a column is compared with values of its own type.
    @available(
        *, unavailable, message: "a column is compared with values of its own type, or with a column of that type"
    )
    @_disfavoredOverload
    public static func <= <Other>(left: ColumnExpression, right: Other) -> Condition { left.misfit }

    /// Not available: a column is compared with values of its own type.
    @available(
        *, unavailable, message: "a column is compared with values of its own type, or with a column of that type"
    )
    @_disfavoredOverload
    public static func > <Other>(left: ColumnExpression, right: Other) -> Condition { left.misfit }

    /// Not available: a column is compared with values of its own type.
    @available(
        *, unavailable, message: "a column is compared with values of its own type, or with a column of that type"
    )
    @_disfavoredOverload
    public static func >= <Other>(left: ColumnExpression, right: Other) -> Condition { left.misfit }

    private var misfit: Condition { Condition(.constant(false)) }
}
