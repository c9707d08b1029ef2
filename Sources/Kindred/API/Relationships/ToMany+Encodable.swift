extension ToMany: Encodable {
    /// Writes the members that are in memory, each as ``DatabaseObject/encode(to:)`` does.
    ///
    /// Throws `EncodingError` where the members are not loaded: prefetch the relationship, or write a view of the owner.
    /// Sends nothing.
    public func encode(to encoder: any Encoder) throws {
        guard let known, !owner.isDeleted, let members = context.core.loadedMembers(of: known, owner: owner),
            let objects = context.core.objects(members, of: known.destination)
        else {
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
