// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The classes of this folder: `Database.connect(uri, classes: KindredModels.all)`.
public enum KindredModels {
    /// Every class, to be registered with a database.
    public static let all: [any TypedObject.Type] = [
        Größe.self,
        Badge.self,
        Blank.self,
        Club.self,
        House.self,
        Keeper.self,
        Letter.self,
        Membership.self,
        Pet.self,
        Visit.self,
    ]
}
