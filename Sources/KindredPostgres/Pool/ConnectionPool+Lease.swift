extension ConnectionPool {
    /// A lent connection, to be given back once.
    ///
    /// Three words, so that a request keeps it without an allocation.
    struct Lease: ConnectionShare {
        private enum Lender {
            case pool(ConnectionPool)
            case limit(ConnectionLimit)
        }

        let id: Int
        let connection: PooledConnection
        private var lender: Lender

        init(id: Int, connection: PooledConnection, pool: ConnectionPool) {
            (self.id, self.connection, lender) = (id, connection, .pool(pool))
        }

        /// The lease as one that counts towards a limit.
        func within(_ limit: ConnectionLimit) -> Lease {
            var lease = self
            lease.lender = .limit(limit)
            return lease
        }

        func giveBack() {
            switch lender {
            case .pool(let pool): pool.release(self)
            case .limit(let limit): limit.takeBack(self)
            }
        }
    }
}
