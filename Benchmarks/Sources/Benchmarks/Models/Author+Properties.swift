// Written by `kindred generate`; changes to this file are lost.

import Kindred

extension Author: TypedObject {
    /// The entity `public.author`, and what stands behind each property.
    static let mapping = EntityMapping(
        schema: "public",
        name: "author",
        [
            .attribute(\Author.id, "id", "integer"),
            .attribute(\Author.name, "name", "text"),
            .attribute(\Author.born, "born", "integer"),
            .toMany(\Author.books, "public_book_book_author_id_fkey"),
        ]
    )
}

extension Author {
    /// The column `id`.
    var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`.
    var name: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `born`.
    var born: Int? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `bookSet`.
    var books: ToMany<Book> {
        toManyProperty(3)
    }
}
