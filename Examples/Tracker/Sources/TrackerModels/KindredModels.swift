// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The classes of this folder: `Database.connect(uri, classes: KindredModels.all)`.
public enum KindredModels {
    /// Every class, to be registered with a database.
    public static let all: [any TypedObject.Type] = [
        Comment.self,
        Document.self,
        Job.self,
        Membership.self,
        Organization.self,
        Person.self,
        Project.self,
        Ticket.self,
        TimeEntry.self,
    ]
}
