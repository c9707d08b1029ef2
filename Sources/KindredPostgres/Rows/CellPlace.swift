/// The place of a column's new value in a buffer that has several.
package struct CellPlace: Sendable {
    package let column: Int
    private let start: Int32
    /// The number of bytes; -1 for NULL.
    private let length: Int32

    /// - Parameter range: the value's bytes, within the first 2 GiB of the buffer; nil for NULL.
    package init(column: Int, range: Range<Int>?) {
        self.column = column
        start = Int32(clamping: range?.lowerBound ?? 0)
        length = range.map { Int32(clamping: $0.count) } ?? -1
    }

    /// The number of bytes; none for NULL.
    var count: Int { Int(max(length, 0)) }

    /// The value's bytes in the buffer; nil for NULL.
    package var range: Range<Int>? { length < 0 ? nil : Int(start)..<Int(start) + Int(length) }

    @inline(__always)
    func write(from values: ByteView, to writer: inout RowBuffer.Writer) {
        if let range { writer.append(values.part(range)) } else { writer.appendNull() }
    }
}

extension Row {
    /// A row with new values in some columns, in the order of the columns, and NULL in all other columns.
    package init(columns: RowColumns, values: ByteView, at places: [CellPlace]) {
        var size = 0
        for place in places { size += place.count }
        self.init(
            RowBuffer.filled(columns, count: columns.count, size: size) { writer in
                for place in places {
                    while writer.column < place.column, writer.column < columns.count { writer.appendNull() }
                    place.write(from: values, to: &writer)
                }
            })
    }

    /// The row with new values in some columns, in the order of the columns.
    ///
    /// A value that would make the row larger than ``maximumSize`` becomes NULL; callers rule that out.
    package func withCells(_ values: ByteView, at places: [CellPlace]) -> Row {
        buffer.withBytes { bytes in
            var (size, left) = (self.size, leavesOut ? (0..<count).count { isLeftOut(at: $0) } : 0)
            for place in places {
                size += place.count - (range(place.column, bytes)?.count ?? 0)
                if left > 0, isLeftOut(at: place.column) { left -= 1 }
            }
            let leavesOut = left > 0
            return Row(
                RowBuffer.filled(
                    columns, count: count, size: Swift.min(size, Self.maximumSize), leavesOut: leavesOut
                ) { writer in
                    var next = 0
                    for column in 0..<count {
                        if next < places.count, places[next].column == column {
                            places[next].write(from: values, to: &writer)
                            next += 1
                        } else if let range = range(column, bytes) {
                            writer.append(bytes.part(range))
                        } else if leavesOut, isLeftOut(at: column) {
                            writer.leaveOut()
                        } else {
                            writer.appendNull()
                        }
                    }
                })
        }
    }
}

extension Bindings {
    /// Appends one array parameter with the values of a column of some rows, which hold them in the element type's binary
    /// form.
    package mutating func appendArray(_ column: Int, of rows: [Row], as element: PostgresDataType) throws {
        try appendCells(rows.count, of: element) { position, bytes in rows[position].append(column, to: &bytes) }
    }
}
