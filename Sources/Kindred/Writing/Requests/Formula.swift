import KindredPostgres

/// A value that the database calculates from a row's own columns, for `FetchRequest.update(_:)`.
///
/// ```swift
/// try await context.fetch("product").where("stock > 0").update(["stock": Formula("stock - %@", 1)])
/// ```
///
/// The text is an expression in the grammar of ``FetchRequest/where(_:_:)``: key paths over to-one relationships,
/// `path.@count`, numbers, `+` `-` `*` `/` `**`, intervals added to moments; each `%@` stands for an argument, which is bound.
public struct Formula: PropertyValue, CalculatedValue {
    let format: String
    let arguments: [(any PropertyValue)?]

    /// Makes an expression; it is read, and its keys are checked, when the update is made.
    public init(_ format: String, _ arguments: (any PropertyValue)?...) {
        self.format = format
        self.arguments = arguments
    }

    /// Throws: only an update by condition takes a formula.
    public var propertyContent: PropertyContent {
        get throws { throw onlyForUpdates }
    }

    var calculation: ConditionExpression {
        get throws {
            let arguments = try arguments.map { try ConditionArgument($0) }
            var parser = FormatParser(tokens: try FormatLexer.tokens(of: format), arguments: arguments)
            return try parser.formula()
        }
    }
}

/// What an update by condition can assign beside values.
protocol CalculatedValue: PropertyValue {
    var calculation: ConditionExpression { get throws }
}

extension CalculatedValue {
    var onlyForUpdates: KindredError {
        KindredError(.wrongType, "A calculation is given to the update of a request, and to nothing else")
    }
}
