package import KindredPostgres

/// A thing in a schema.
package struct SchemaItem: Hashable {
    package var content: ItemContent
    package var comment: String?
    package var grants: [Grant] = []
    package var settings: [Setting] = []
    /// The roles that its definition names.
    package var roles: [String] = []
    /// Where it stands among its like: columns in their table.
    package var position = 0
    package var dependencies: Set<ItemName> = []
    /// The extensions whose things it uses.
    package var extensions: Set<ServerText> = []
    /// The property for which only a superuser may make it, in words for people; nil where an ordinary role may.
    package var privilege: String?

    /// Whether statements change it; otherwise a difference is only named.
    package var isManaged: Bool { if case .other = content { false } else { true } }

    package init(
        content: ItemContent, comment: String? = nil, grants: [Grant] = [], roles: [String] = [], position: Int = 0,
        dependencies: Set<ItemName> = []
    ) {
        self.content = content
        self.comment = comment
        self.grants = grants
        self.roles = roles
        self.position = position
        self.dependencies = dependencies
    }
}

/// A thing's definition, as far as two sides are compared.
package enum ItemContent: Hashable {
    case schema
    case enumeration(labels: [String])
    case domain(Domain)
    /// The text in parentheses behind AS RANGE.
    case range(String)
    case composite([Field])
    case sequence(SequenceItem)
    case table(TableItem)
    case column(ColumnItem)
    case constraint(ConstraintItem)
    case index(IndexItem)
    case view(ViewItem)
    /// A view's column has a comment and nothing else of its own.
    case viewColumn
    case `extension`(ExtensionItem)
    /// A function, trigger, policy and the like.
    case object(ObjectItem)
    case defaultPrivileges(DefaultPrivileges)
    /// A thing whose differences are only named, with a text that tells it from other things.
    case other(String)
}
