import KindredPostgres
import KindredSchema

/// K416: extensions in the schema that all roles share.
enum PublicExtensions {
    static let rule = DoctorRule(
        "K416", "extension-in-public", .note,
        "An extension whose objects are in the schema public.",
        explanation: """
            Its functions, types and operators are among your own objects, on every role's search path, and in the interfaces that \
            are made of that schema. Give extensions a schema of their own: CREATE SCHEMA extensions, ALTER EXTENSION … SET SCHEMA \
            extensions, and put it on the search path of the roles that use them. Some extensions cannot be moved, and functions \
            with a fixed path need the new schema in it, so that this has no repair to be run unread.
            """,
        check: { run in
            for name in run.examination.facts.publicExtensions.sorted() {
                run.report(
                    nil, object: name, "The extension \(name) is in the schema public", facts: [("schema", "public")])
            }
        })
}
