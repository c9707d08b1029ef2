// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Document: KeyedObject {
    /// The class of the objects.
    public typealias Target = Document
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.document`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "document",
        [
            .attribute(\Document.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\Document.id, "id", "integer"),
            .attribute(\Document.title, "title", "text"),
            .attribute(\Document.content, "content", "text"),
            .attribute(\Document.projectID, "project_id", "integer", name: "projectID"),
            .toOne(\Document.project, "public_document_project__documents", name: "project"),
        ]
    )
}

extension Document {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case id
        case title
        case content
        case projectID
        case project
    }

    /// The column `organization_id`; 0 while a new object has no value.
    public var organizationID: Int {
        get { readProperty(PropertyNumber.organizationID.rawValue) }
        set { writeProperty(PropertyNumber.organizationID.rawValue, newValue) }
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `content`, loaded when it is asked for.
    public var content: LazyAttribute<String> {
        lazyProperty(PropertyNumber.content.rawValue)
    }

    /// The column `project_id`; 0 while a new object has no value.
    public var projectID: Int {
        get { readProperty(PropertyNumber.projectID.rawValue) }
        set { writeProperty(PropertyNumber.projectID.rawValue, newValue) }
    }

    /// The relationship `project`.
    public var project: ToOne<Project> {
        get { toOneProperty(PropertyNumber.project.rawValue) }
        @available(*, unavailable, message: "call try await project.set(object)")
        set {}
    }
}

extension Document {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        title: String,
        content: String? = nil,
        project: some ToOneValue<Project>
    ) -> NewValues<Document> {
        var values = NewValues<Document>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.content.rawValue, content)
        values.setToOne(
            PropertyNumber.project.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.projectID.rawValue],
            project
        )
        return values
    }
}
