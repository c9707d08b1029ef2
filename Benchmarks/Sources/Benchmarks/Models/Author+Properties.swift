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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case born
        case books
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

    /// The column `born`.
    var born: Int? {
        get { readProperty(PropertyNumber.born.rawValue) }
        set { writeProperty(PropertyNumber.born.rawValue, newValue) }
    }

    /// The relationship `bookSet`.
    var books: ToMany<Book> {
        toManyProperty(PropertyNumber.books.rawValue)
    }
}

extension Author {
    /// The values of a new row; the database fills what is nil.
    static func new(id: Int, name: String, born: Int? = nil) -> NewValues<Author> {
        var values = NewValues<Author>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setProperty(PropertyNumber.born.rawValue, born)
        return values
    }
}
