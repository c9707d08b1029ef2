// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Letter: KeyedObject {
    /// The class of the objects.
    public typealias Target = Letter
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.letter`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "letter",
        [
            .attribute(\Letter.id, "id", "integer"),
            .attribute(\Letter.subject, "subject", "text"),
            .attribute(\Letter.body, "body", "text"),
            .attribute(\Letter.scan, "scan", "bytea"),
            .attribute(\Letter.tags, "tags", "text[]"),
        ]
    )
}

extension Letter {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case subject
        case body
        case scan
        case tags
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `subject`; empty while a new object has no value.
    public var subject: String {
        get { readProperty(PropertyNumber.subject.rawValue) }
        set { writeProperty(PropertyNumber.subject.rawValue, newValue) }
    }

    /// The column `body`, loaded when it is asked for.
    public var body: LazyAttribute<String> {
        lazyProperty(PropertyNumber.body.rawValue)
    }

    /// The column `scan`, loaded when it is asked for.
    public var scan: LazyAttribute<[UInt8]?> {
        lazyProperty(PropertyNumber.scan.rawValue)
    }

    /// The column `tags`, loaded when it is asked for.
    public var tags: LazyAttribute<[String?]> {
        lazyProperty(PropertyNumber.tags.rawValue)
    }
}

extension Letter {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int,
        subject: String,
        body: String,
        scan: [UInt8]? = nil,
        tags: [String?]
    ) -> NewValues<Letter> {
        var values = NewValues<Letter>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.subject.rawValue, subject)
        values.setProperty(PropertyNumber.body.rawValue, body)
        values.setProperty(PropertyNumber.scan.rawValue, scan)
        values.setProperty(PropertyNumber.tags.rawValue, tags)
        return values
    }
}
