/// An array of any dimensions, its elements in row order.
public struct PostgresArray: Sendable, Hashable {
    /// One dimension of an array.
    public struct Dimension: Sendable, Hashable {
        /// The number of elements along it.
        public let count: Int
        /// The index of the first.
        public let lowerBound: Int

        /// A dimension that begins at 1, unless said otherwise.
        public init(count: Int, lowerBound: Int = 1) {
            self.count = count
            self.lowerBound = lowerBound
        }

        /// Whether PostgreSQL can index it: the index after the last has to fit in 32 bits.
        var isValid: Bool {
            guard count >= 0, let count = Int32(exactly: count), let lowerBound = Int32(exactly: lowerBound) else {
                return false
            }
            return !lowerBound.addingReportingOverflow(count).overflow
        }
    }

    /// The elements' type.
    public let elementType: PostgresDataType
    /// The dimensions; none for an empty array.
    public let dimensions: [Dimension]
    /// The elements in row order, nil for NULL.
    public let elements: [PostgresValue?]

    /// An array of one dimension.
    public init(elementType: PostgresDataType, elements: [PostgresValue?]) {
        self.elementType = elementType
        self.elements = elements
        dimensions = elements.isEmpty ? [] : [Dimension(count: elements.count)]
    }

    /// An array of several dimensions.
    ///
    /// Throws `PostgresError` `.invalidParameter` unless the dimensions, 6 at most, hold exactly the elements.
    public init(elementType: PostgresDataType, dimensions: [Dimension], elements: [PostgresValue?]) throws {
        var size = dimensions.isEmpty ? 0 : 1
        for dimension in dimensions {
            let (product, isTooLarge) = size.multipliedReportingOverflow(by: dimension.count)
            guard !isTooLarge, dimension.isValid else {
                throw PostgresError(.invalidParameter, "An array's dimension is out of range")
            }
            size = product
        }
        guard size == elements.count, dimensions.count <= 6 else {
            throw PostgresError(
                .invalidParameter,
                "An array of \(dimensions.count) dimensions needs \(size) elements, got \(elements.count)"
            )
        }
        self.elementType = elementType
        self.dimensions = size == 0 ? [] : dimensions
        self.elements = elements
    }
}

extension PostgresArray: CustomStringConvertible {
    /// The array as the server prints it: `{1,2,NULL}`.
    public var description: String {
        guard !dimensions.isEmpty else { return "{}" }
        var prefix = ""
        if dimensions.contains(where: { $0.lowerBound != 1 }) {
            for dimension in dimensions {
                prefix += "[\(dimension.lowerBound):\(dimension.lowerBound + dimension.count - 1)]"
            }
            prefix += "="
        }
        var rest = elements[...]
        return prefix + text(dimensions[...], &rest)
    }

    private func text(_ dimensions: ArraySlice<Dimension>, _ rest: inout ArraySlice<PostgresValue?>) -> String {
        guard let first = dimensions.first else { return rest.popFirst().map(element) ?? "" }
        let parts = (0..<first.count).map { _ in text(dimensions.dropFirst(), &rest) }
        return "{\(parts.joined(separator: String(delimiter)))}"
    }

    /// Boxes contain commas.
    private var delimiter: Unicode.Scalar { elementType == .box ? ";" : "," }

    private func element(_ value: PostgresValue?) -> String {
        guard let text = value?.description else { return "NULL" }
        let needsQuotes =
            text.isEmpty || text.lowercased() == "null" || text.unicodeScalars.contains(delimiter)
            || text.unicodeScalars.contains { "{}\"\\ \t\n\r\u{0B}\u{0C}".unicodeScalars.contains($0) }
        guard needsQuotes else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
