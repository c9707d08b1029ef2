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
    /// The column `book_id`.
    var bookID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `tag_id`.
    var tagID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `book`.
    var book: ToOne<Book> {
        get { toOneProperty(2) }
        @available(*, unavailable, message: "call try await book.set(object)")
        set {}
    }

    /// The relationship `tag`.
    var tag: ToOne<Tag> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await tag.set(object)")
        set {}
    }
}
