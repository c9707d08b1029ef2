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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case bookID
        case text
        case stars
        case book
    }

    /// The column `id`.
    var id: Int {
        readProperty(PropertyNumber.id.rawValue)
    }

    /// The column `book_id`.
    var bookID: Int {
        get { readProperty(PropertyNumber.bookID.rawValue) }
        set { writeProperty(PropertyNumber.bookID.rawValue, newValue) }
    }

    /// The column `text`.
    var text: String {
        get { readProperty(PropertyNumber.text.rawValue) }
        set { writeProperty(PropertyNumber.text.rawValue, newValue) }
    }

    /// The column `stars`.
    var stars: Int? {
        get { readProperty(PropertyNumber.stars.rawValue) }
        set { writeProperty(PropertyNumber.stars.rawValue, newValue) }
    }

    /// The relationship `book`.
    var book: ToOne<Book> {
        get { toOneProperty(PropertyNumber.book.rawValue) }
        @available(*, unavailable, message: "call try await book.set(object)")
        set {}
    }
}

extension Review {
    /// The values of a new row; the database fills what is nil.
    static func new(bookID: Int, text: String, stars: Int? = nil) -> NewValues<Review> {
        var values = NewValues<Review>()
        values.setProperty(PropertyNumber.bookID.rawValue, bookID)
        values.setProperty(PropertyNumber.text.rawValue, text)
        values.setProperty(PropertyNumber.stars.rawValue, stars)
        return values
    }

    /// The values of a new row; the database fills what is nil.
    static func new(text: String, stars: Int? = nil, book: Book) -> NewValues<Review> {
        var values = NewValues<Review>()
        values.setProperty(PropertyNumber.text.rawValue, text)
        values.setProperty(PropertyNumber.stars.rawValue, stars)
        values.setProperty(PropertyNumber.book.rawValue, book)
        return values
    }
}
