#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension FetchRequest where Object: TypedObject {
    /// Keeps the objects that fulfil a Foundation predicate: `where(#Predicate { $0.surname == name })`.
    ///
    /// The predicate becomes SQL with bound values. Relationships are written with `loaded`, as in
    /// `$0.emails.loaded.contains { $0.isPrimary }` and `$0.category.loaded?.name == "Poetry"`, and mean the rows in
    /// the database. A forced unwrapping of NULL, which would trap in Swift, makes a comparison false. Sends nothing.
    /// Throws `KindredError` `.invalidCondition` for an expression without an exact counterpart in SQL (nothing is ever
    /// filtered in memory instead), `.unknownKey` for a property that is not a column.
    public func `where`(_ predicate: Predicate<Object>) throws -> FetchRequest {
        try self.where(try Condition(predicate))
    }
}

extension Condition {
    /// The condition of a Foundation predicate.
    ///
    /// Throws as ``FetchRequest/where(_:)-(Predicate<Object>)`` does.
    public init<Object: TypedObject>(_ predicate: Predicate<Object>) throws {
        var translator = PredicateTranslator(predicate.variable)
        self.init(try translator.predicate(predicate.expression))
    }
}
