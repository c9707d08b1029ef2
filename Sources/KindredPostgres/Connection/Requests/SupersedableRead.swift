/// A read that another server may answer before the connection does.
protocol SupersedableRead: AnyObject, Sendable {
    /// Notes that the read was sent.
    ///
    /// - Parameter stop: stops it on its connection, soon.
    /// - Returns: whether another server has answered already.
    func noteFirst(_ stop: @escaping @Sendable () -> Void) -> Bool
}

/// The error of a request whose answer is not wanted, as another server has answered the same read.
struct ReadSuperseded: Error {}
