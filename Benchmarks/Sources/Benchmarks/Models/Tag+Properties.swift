// Written by `kindred generate`; changes to this file are lost.

import Kindred

extension Tag: TypedObject {
    /// The entity `public.tag`, and what stands behind each property.
    static let mapping = EntityMapping(
        schema: "public",
        name: "tag",
        [
            .attribute(\Tag.id, "id", "integer"),
            .attribute(\Tag.name, "name", "text"),
            .toMany(\Tag.books, "public_book_tag_book_tag_tag_id_fkey_book_tag_book_id_fkey"),
            .toMany(\Tag.bookTags, "public_book_tag_book_tag_tag_id_fkey"),
        ]
    )
}

extension Tag {
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

    /// The relationship `bookSet`.
    var books: ToMany<Book> {
        toManyProperty(2)
    }

    /// The relationship `book_tagSet`.
    var bookTags: ToMany<BookTag> {
        toManyProperty(3)
    }
}
