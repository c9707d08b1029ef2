/// A value computed from many rows: a function, and its operand in each row.
package struct AggregateTerm: Sendable {
    package enum Function: String, Sendable {
        case count, sum
        case average = "avg"
        case minimum = "min"
        case maximum = "max"
    }

    package let function: Function
    /// The value in each row; nil where rows are counted.
    package let argument: ConditionExpression?
    /// The name in errors and results, such as `sum(price)`.
    package let label: String

    package init(_ function: Function, of argument: ConditionExpression?, label: String) {
        self.function = function
        self.argument = argument
        self.label = label
    }
}
