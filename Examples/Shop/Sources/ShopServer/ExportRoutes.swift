import Hummingbird
import Kindred
import NIOCore
import ShopModels

/// `/export`: any number of rows with bounded memory.
struct ExportRoutes {
    let database: Database

    func add(to group: RouterGroup<ShopRequestContext>) {
        group.get("purchases.csv", use: purchases)
    }

    /// Rows are read as the client takes them; the body is written after the handler has returned, so that the stream has
    /// a context of its own.
    @Sendable func purchases(_ request: Request, _ context: ShopRequestContext) async throws -> Response {
        let stream = try database.makeContext().fetch(PurchaseLine.self).stream()
        let body = ResponseBody { writer in
            var buffer = ByteBuffer(string: "store,purchase,line,book,copies,price\r\n")
            for try await line in stream {
                buffer.writeString("\(line.storeID),\(line.purchaseNumber),\(line.line),")
                buffer.writeString("\(line.bookID),\(line.copies),\(line.price)\r\n")
                guard buffer.readableBytes >= 16_384 else { continue }
                try await writer.write(buffer)
                buffer.clear()
            }
            try await writer.write(buffer)
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/csv; charset=utf-8"], body: body)
    }
}
