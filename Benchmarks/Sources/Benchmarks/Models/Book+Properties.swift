// Written by `kindred generate`; changes to this file are lost.

import Kindred

extension Book: TypedObject {
    /// The entity `public.book`, and what stands behind each property.
    static let mapping = EntityMapping(
        schema: "public",
        name: "book",
        [
            .attribute(\Book.id, "id", "integer"),
            .attribute(\Book.authorID, "author_id", "integer"),
            .attribute(\Book.title, "title", "text"),
            .attribute(\Book.year, "year", "integer"),
            .attribute(\Book.price, "price", "numeric"),
            .toOne(\Book.author, "public_book_book_author_id_fkey"),
            .toMany(\Book.bookTags, "public_book_tag_book_tag_book_id_fkey"),
            .toMany(\Book.reviews, "public_review_review_book_id_fkey"),
            .toMany(\Book.tags, "public_book_tag_book_tag_book_id_fkey_book_tag_tag_id_fkey"),
        ]
    )
}

extension Book {
    /// The column `id`.
    var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `author_id`.
    var authorID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `title`.
    var title: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `year`.
    var year: Int? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `price`.
    var price: PostgresNumeric? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The relationship `author`.
    var author: ToOne<Author> {
        get { toOneProperty(5) }
        @available(*, unavailable, message: "call try await author.set(object)")
        set {}
    }

    /// The relationship `book_tagSet`.
    var bookTags: ToMany<BookTag> {
        toManyProperty(6)
    }

    /// The relationship `reviewSet`.
    var reviews: ToMany<Review> {
        toManyProperty(7)
    }

    /// The relationship `tagSet`.
    var tags: ToMany<Tag> {
        toManyProperty(8)
    }
}
