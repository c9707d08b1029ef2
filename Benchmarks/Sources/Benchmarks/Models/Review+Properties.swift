// Written by `kindred generate`; changes to this file are lost.

import Kindred

extension Review: TypedObject {
    /// The entity `public.review`, and what stands behind each property.
    static let mapping = EntityMapping(
        schema: "public",
        name: "review",
        [
            .attribute(\Review.id, "id", "integer"),
            .attribute(\Review.bookID, "book_id", "integer"),
            .attribute(\Review.text, "text", "text"),
            .attribute(\Review.stars, "stars", "integer"),
            .toOne(\Review.book, "public_review_review_book_id_fkey"),
        ]
    )
}

extension Review {
    /// The column `id`.
    var id: Int {
        readProperty(0)
    }

    /// The column `book_id`.
    var bookID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `text`.
    var text: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `stars`.
    var stars: Int? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The relationship `book`.
    var book: ToOne<Book> {
        get { toOneProperty(4) }
        @available(*, unavailable, message: "call try await book.set(object)")
        set {}
    }
}
