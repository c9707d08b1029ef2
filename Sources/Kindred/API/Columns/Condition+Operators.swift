extension Condition {
    /// Whether both hold.
    public static func && (left: Condition, right: Condition) -> Condition { .all([left, right]) }

    /// Whether one of them holds, or both.
    public static func || (left: Condition, right: Condition) -> Condition { .any([left, right]) }

    /// Whether the condition does not hold.
    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}
