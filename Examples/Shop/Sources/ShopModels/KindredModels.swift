// Written by `kindred generate`; changes to this file are lost.

public import Kindred

/// The classes of this folder: `Database.connect(uri, classes: KindredModels.all)`.
public enum KindredModels {
    /// Every class, to be registered with a database.
    public static let all: [any TypedObject.Type] = [
        Author.self,
        Bestseller.self,
        Book.self,
        BookAuthor.self,
        Category.self,
        Email.self,
        Friendship.self,
        NewBook.self,
        Person.self,
        PersonTitleRel.self,
        Profile.self,
        Purchase.self,
        PurchaseLine.self,
        Stock.self,
        Store.self,
        Title.self,
    ]
}
