// Written by `kindred generate`; changes to this file are lost.

import Kindred

/// The classes of this folder: `Database.connect(uri, classes: KindredModels.all)`.
enum KindredModels {
    /// Every class, to be registered with a database.
    static let all: [any TypedObject.Type] = [
        Author.self,
        Book.self,
        BookTag.self,
        Review.self,
        Tag.self,
    ]
}
