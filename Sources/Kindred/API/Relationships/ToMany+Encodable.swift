extension ToMany: Encodable {
    /// Writes the members that are in memory, each as ``DatabaseObject/encode(to:)`` does.
    ///
    /// Throws `EncodingError` where the members are not loaded: prefetch the relationship, or write a view of the owner.
    /// Sends nothing.
    public func encode(to encoder: any Encoder) throws {
        guard let objects = objectsInMemory else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "\(owner.runtime.name).\(name) is not loaded: prefetch it, or use view(_:)"))
        }
        var container = encoder.unkeyedContainer()
        for object in objects { try container.encode(object) }
    }
}
