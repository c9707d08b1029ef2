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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case books
        case bookTags
    }

    /// The column `id`.
    var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `name`.
    var name: String {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The relationship `bookSet`.
    var books: ToMany<Book> {
        toManyProperty(PropertyNumber.books.rawValue)
    }

    /// The relationship `book_tagSet`.
    var bookTags: ToMany<BookTag> {
        toManyProperty(PropertyNumber.bookTags.rawValue)
    }
}

extension Tag {
    /// The values of a new row; the database fills what is nil.
    static func new(id: Int, name: String) -> NewValues<Tag> {
        var values = NewValues<Tag>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
