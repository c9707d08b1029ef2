// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Category: KeyedObject {
    /// The class of the objects.
    public typealias Target = Category
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case parentID
        case books
        case children
        case parent
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The column `parent_id`.
    public var parentID: Int? {
        get { readProperty(PropertyNumber.parentID.rawValue) }
        set { writeProperty(PropertyNumber.parentID.rawValue, newValue) }
    }

    /// The relationship `bookSet`.
    public var books: ToMany<Book> {
        toManyProperty(PropertyNumber.books.rawValue)
    }

    /// The relationship `children`.
    public var children: ToMany<Category> {
        toManyProperty(PropertyNumber.children.rawValue)
    }

    /// The relationship `parent`.
    public var parent: ToOne<Category?> {
        get { toOneProperty(PropertyNumber.parent.rawValue) }
        @available(*, unavailable, message: "call try await parent.set(object)")
        set {}
    }
}

extension Category {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        name: String,
        parent: some OptionalToOneValue<Category> = Category?.none
    ) -> NewValues<Category> {
        var values = NewValues<Category>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setToOne(PropertyNumber.parent.rawValue, columns: [PropertyNumber.parentID.rawValue], parent)
        return values
    }
}
