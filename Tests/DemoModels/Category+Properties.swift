// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Category: TypedObject {
    /// The entity `public.category`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "category",
        [
            .attribute(\Category.id, "id", "integer"),
            .attribute(\Category.name, "name", "text"),
            .attribute(\Category.parentID, "parent_id", "integer", name: "parentID"),
            .toMany(\Category.books, "public_book_book_category_id_fkey", name: "books"),
            .toMany(\Category.children, "public_category_parent__children", name: "children"),
            .toOne(\Category.parent, "public_category_parent__children_2", name: "parent"),
        ]
    )
}

extension Category {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `parent_id`.
    public var parentID: Int? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `bookSet`.
    public var books: ToMany<Book> {
        toManyProperty(3)
    }

    /// The relationship `children`.
    public var children: ToMany<Category> {
        toManyProperty(4)
    }

    /// The relationship `parent`.
    public var parent: ToOne<Category?> {
        get { toOneProperty(5) }
        @available(*, unavailable, message: "call try await parent.set(object)")
        set {}
    }
}
