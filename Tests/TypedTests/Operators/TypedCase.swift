import Kindred

/// A condition that is built through typed columns, and its meaning over the objects in memory.
struct TypedCase<Root: TypedObject> {
    /// Something like its source, to be recognised by.
    let text: String
    let condition: (Columns<Root>) -> Condition
    let holds: (Root) -> Bool
}

/// A column or a calculation, and its value in memory.
struct TypedTerm<Root: TypedObject, Value> {
    let text: String
    let column: (Columns<Root>) -> ColumnExpression<Value>
    let value: (Root) -> Value?
}

/// Where a path of to-one relationships leads.
struct TypedPlace<Root: TypedObject, Target: TypedObject> {
    let text: String
    let columns: (Columns<Root>) -> Columns<Target>
    let object: (Root) -> Target?

    func term<Value>(
        _ name: String,
        _ column: @escaping (Columns<Target>) -> ColumnExpression<Value>,
        _ value: @escaping (Target) -> Value?
    ) -> TypedTerm<Root, Value> {
        let (columns, object) = (columns, object)
        return TypedTerm(text: "\(text).\(name)") {
            column(columns($0))
        } value: {
            object($0).flatMap(value)
        }
    }

    func `case`(
        _ name: String,
        _ condition: @escaping (Columns<Target>) -> Condition,
        _ holds: @escaping (Target?) -> Bool
    ) -> TypedCase<Root> {
        let (columns, object) = (columns, object)
        return TypedCase(text: "\(text).\(name)") {
            condition(columns($0))
        } holds: {
            holds(object($0))
        }
    }

    func members<Member>(
        _ name: String,
        _ columns: @escaping (Columns<Target>) -> MemberColumns<Member>,
        _ objects: @escaping (Target) -> [Member]
    ) -> TypedMembers<Root, Member> {
        let (place, object) = (self.columns, self.object)
        return TypedMembers(text: "\(text).\(name)") {
            columns(place($0))
        } objects: {
            object($0).map(objects)
        }
    }
}

/// Where a path over a to-many relationship leads.
struct TypedMembers<Root: TypedObject, Member: TypedObject> {
    let text: String
    let columns: (Columns<Root>) -> MemberColumns<Member>
    /// nil where the owner is missing, which has no members and no number of them.
    let objects: (Root) -> [Member]?

    func then<Next>(
        _ name: String,
        _ columns: @escaping (MemberColumns<Member>) -> MemberColumns<Next>,
        _ objects: @escaping (Member) -> [Next]
    ) -> TypedMembers<Root, Next> {
        let (members, all) = (self.columns, self.objects)
        return TypedMembers<Root, Next>(text: "\(text).\(name)") {
            columns(members($0))
        } objects: {
            all($0)?.flatMap(objects)
        }
    }
}
