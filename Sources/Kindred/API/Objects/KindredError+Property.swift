import KindredPostgres

extension KindredError.Problem {
    /// The property of the object's class that stands for ``key``, as a form names its fields; nil where there is none.
    public var property: String? { key.flatMap { object?.propertyName(of: $0) } }
}

extension KindredError {
    /// The property of the object's class that stands for ``key``; the first problem's property where there are
    /// several.
    public var property: String? { problems.first?.property }
}

extension DatabaseObject {
    fileprivate func propertyName(of key: String) -> String? {
        switch try? runtime.field(named: key) {
        case .attribute(let position): runtime.propertyName(ofAttribute: position)
        case .relationship(let relationship): runtime.propertyName(of: relationship)
        case nil: nil
        }
    }
}
