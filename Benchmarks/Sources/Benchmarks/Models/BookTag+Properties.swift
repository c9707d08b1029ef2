// Written by `kindred generate`; changes to this file are lost.

import Kindred

extension BookTag: TypedObject {
    /// The entity `public.book_tag`, and what stands behind each property.
    static let mapping = EntityMapping(
        schema: "public",
        name: "book_tag",
        [
            .attribute(\BookTag.bookID, "book_id", "integer"),
            .attribute(\BookTag.tagID, "tag_id", "integer"),
            .toOne(\BookTag.book, "public_book_tag_book_tag_book_id_fkey"),
            .toOne(\BookTag.tag, "public_book_tag_book_tag_tag_id_fkey"),
        ]
    )
}

extension BookTag {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case bookID
        case tagID
        case book
        case tag
    }

    /// The column `book_id`.
    var bookID: Int {
        get { readProperty(PropertyNumber.bookID.rawValue) }
        set { writeProperty(PropertyNumber.bookID.rawValue, newValue) }
    }

    /// The column `tag_id`.
    var tagID: Int {
        get { readProperty(PropertyNumber.tagID.rawValue) }
        set { writeProperty(PropertyNumber.tagID.rawValue, newValue) }
    }

    /// The relationship `book`.
    var book: ToOne<Book> {
        get { toOneProperty(PropertyNumber.book.rawValue) }
        @available(*, unavailable, message: "call try await book.set(object)")
        set {}
    }

    /// The relationship `tag`.
    var tag: ToOne<Tag> {
        get { toOneProperty(PropertyNumber.tag.rawValue) }
        @available(*, unavailable, message: "call try await tag.set(object)")
        set {}
    }
}

extension BookTag {
    /// The values of a new row; the database fills what is nil.
    static func new(bookID: Int, tagID: Int) -> NewValues<BookTag> {
        var values = NewValues<BookTag>()
        values.setProperty(PropertyNumber.bookID.rawValue, bookID)
        values.setProperty(PropertyNumber.tagID.rawValue, tagID)
        return values
    }

    /// The values of a new row; the database fills what is nil.
    static func new(book: Book, tag: Tag) -> NewValues<BookTag> {
        var values = NewValues<BookTag>()
        values.setProperty(PropertyNumber.book.rawValue, book)
        values.setProperty(PropertyNumber.tag.rawValue, tag)
        return values
    }
}
