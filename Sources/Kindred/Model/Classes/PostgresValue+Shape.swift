import KindredPostgres

extension PostgresValue {
    /// The value with its arrays in the shape of another value's, where they have the same number of elements.
    ///
    /// Typed properties return arrays row by row: a value that is read and written back keeps its dimensions and lower
    /// bounds.
    func shaped(like other: PostgresValue?) -> PostgresValue {
        switch (self, other) {
        case (.array(let array), .array(let known)?):
            let count = array.elements.count
            guard count > 0, count == known.elements.count, array.dimensions.count == 1 else { return self }
            let elements = zip(array.elements, known.elements).map { $0?.shaped(like: $1) }
            let shaped = try? PostgresArray(
                elementType: array.elementType, dimensions: known.dimensions, elements: elements)
            return .array(shaped ?? array)
        case (.composite(let composite), .composite(let known)?):
            guard composite.fields.count == known.fields.count else { return self }
            let fields = zip(composite.fields, known.fields).map { field, known in
                PostgresComposite.Field(name: field.name, value: field.value?.shaped(like: known.value))
            }
            return .composite(PostgresComposite(fields: fields, dataType: composite.dataType))
        default: return self
        }
    }

    /// Whether the value may contain arrays with a shape.
    var mayHaveShape: Bool {
        switch self {
        case .array, .composite: true
        default: false
        }
    }
}
