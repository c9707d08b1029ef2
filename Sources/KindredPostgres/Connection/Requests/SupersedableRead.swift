/// A read that another server may answer before the connection does.
protocol SupersedableRead: AnyObject, Sendable {
    /// Notes the connection that the read was sent over.
    ///
    /// - Returns: whether another server has answered already.
    func noteFirst(over connection: PooledConnection, as id: Request.ID) -> Bool
}

/// The error of a request whose answer is not wanted, as another server has answered the same read.
struct ReadSuperseded: Error {}
