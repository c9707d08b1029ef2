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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case authorID
        case title
        case year
        case price
        case author
        case bookTags
        case reviews
        case tags
    }

    /// The column `id`.
    var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `author_id`.
    var authorID: Int {
        get { readProperty(PropertyNumber.authorID.rawValue) }
        set { writeProperty(PropertyNumber.authorID.rawValue, newValue) }
    }

    /// The column `title`.
    var title: String {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `year`.
    var year: Int? {
        get { readProperty(PropertyNumber.year.rawValue) }
        set { writeProperty(PropertyNumber.year.rawValue, newValue) }
    }

    /// The column `price`.
    var price: PostgresNumeric? {
        get { readProperty(PropertyNumber.price.rawValue) }
        set { writeProperty(PropertyNumber.price.rawValue, newValue) }
    }

    /// The relationship `author`.
    var author: ToOne<Author> {
        get { toOneProperty(PropertyNumber.author.rawValue) }
        @available(*, unavailable, message: "call try await author.set(object)")
        set {}
    }

    /// The relationship `book_tagSet`.
    var bookTags: ToMany<BookTag> {
        toManyProperty(PropertyNumber.bookTags.rawValue)
    }

    /// The relationship `reviewSet`.
    var reviews: ToMany<Review> {
        toManyProperty(PropertyNumber.reviews.rawValue)
    }

    /// The relationship `tagSet`.
    var tags: ToMany<Tag> {
        toManyProperty(PropertyNumber.tags.rawValue)
    }
}

extension Book {
    /// The values of a new row; the database fills what is nil.
    static func new(
        id: Int,
        authorID: Int,
        title: String,
        year: Int? = nil,
        price: PostgresNumeric? = nil
    ) -> NewValues<Book> {
        var values = NewValues<Book>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.authorID.rawValue, authorID)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.year.rawValue, year)
        values.setProperty(PropertyNumber.price.rawValue, price)
        return values
    }

    /// The values of a new row; the database fills what is nil.
    static func new(
        id: Int,
        title: String,
        year: Int? = nil,
        price: PostgresNumeric? = nil,
        author: Author
    ) -> NewValues<Book> {
        var values = NewValues<Book>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.year.rawValue, year)
        values.setProperty(PropertyNumber.price.rawValue, price)
        values.setProperty(PropertyNumber.author.rawValue, author)
        return values
    }
}
