extension ConnectionPool {
    /// A lent connection, to be given back once.
    ///
    /// A class: a request hands it through many layers, and each copy of a value would retain everything that it holds.
    final class Lease: ConnectionShare {
        private enum Lender {
            case pool(ConnectionPool)
            case limit(ConnectionLimit)
        }

        let id: Int
        let connection: PooledConnection
        private let lender: Lender

        init(id: Int, connection: PooledConnection, pool: ConnectionPool) {
            (self.id, self.connection, lender) = (id, connection, .pool(pool))
        }

        private init(_ lease: Lease, within limit: ConnectionLimit) {
            (id, connection, lender) = (lease.id, lease.connection, .limit(limit))
        }

        /// The lease, counted towards a limit.
        func within(_ limit: ConnectionLimit) -> Lease { Lease(self, within: limit) }

        func giveBack() {
            switch lender {
            case .pool(let pool): pool.release(self)
            case .limit(let limit): limit.takeBack(self)
            }
        }
    }
}
