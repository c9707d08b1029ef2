// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Letter: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `subject`; empty while a new object has no value.
    public var subject: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `body`, loaded when it is asked for.
    public var body: LazyAttribute<String> {
        lazyProperty(2)
    }

    /// The column `scan`, loaded when it is asked for.
    public var scan: LazyAttribute<[UInt8]?> {
        lazyProperty(3)
    }

    /// The column `tags`, loaded when it is asked for.
    public var tags: LazyAttribute<[String?]> {
        lazyProperty(4)
    }
}
