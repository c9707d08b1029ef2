import KindredPostgres

/// A thing that is made by statements of its own, and dropped by its name.
package struct ObjectItem: Hashable {
    /// The statements that make it.
    package var definition: [String]
    /// The kind and the name, as DROP, COMMENT ON and GRANT take them: `FUNCTION public.f(integer)`.
    package var target: String
    /// The part of the definition that CREATE OR REPLACE cannot change; nil where there is no such statement.
    package var form: String?

    package init(definition: [String], target: String, form: String? = nil) {
        self.definition = definition
        self.target = target
        self.form = form
    }
}

/// An extension, whose schema and version can change.
package struct ExtensionItem: Hashable {
    package var schema: String
    /// nil for the version that the server's programs install by default.
    package var version: String?

    package init(schema: String, version: String? = nil) {
        self.schema = schema
        self.version = version
    }
}

/// The privileges that a role's new things have from the beginning.
package struct DefaultPrivileges: Hashable {
    /// `ALTER DEFAULT PRIVILEGES FOR ROLE r IN SCHEMA s`.
    package var statement: String
    /// `TABLES`, `FUNCTIONS` and so on.
    package var objects: String

    package init(statement: String, objects: String) {
        self.statement = statement
        self.objects = objects
    }
}

/// A property that ALTER gives a thing and takes from it again, as far as it is not as a new thing has it.
package struct Setting: Hashable {
    /// The property's name, with its column.
    package var key: String
    /// The statement that sets it; a text where a difference is only named.
    package var value: String
    /// The statement that takes it back; nil where a difference is only named.
    package var reset: String?
    /// The index or constraint that it names.
    package var needed: ItemName?
    /// The column that it belongs to.
    package var column: String?
    /// Whether it is a column of the catalog that this library does not know, of a newer server: only the values of two servers
    /// that have it can differ.
    package var isUnknown = false

    package init(
        key: String, value: String, reset: String? = nil, needed: ItemName? = nil, column: String? = nil,
        isUnknown: Bool = false
    ) {
        self.key = key
        self.value = value
        self.reset = reset
        self.needed = needed
        self.column = column
        self.isUnknown = isUnknown
    }
}

/// A privilege of a role.
package struct Grant: Hashable, Comparable {
    /// Empty for PUBLIC.
    package var role: String
    package var privilege: String
    /// The column, for a privilege on one; empty for all of the thing.
    package var column = ""
    package var isGrantable: Bool

    package static func < (left: Grant, right: Grant) -> Bool {
        (left.column, left.role, left.privilege, left.isGrantable ? 1 : 0)
            < (right.column, right.role, right.privilege, right.isGrantable ? 1 : 0)
    }

    package init(role: String, privilege: String, column: String = "", isGrantable: Bool = false) {
        self.role = role
        self.privilege = privilege
        self.column = column
        self.isGrantable = isGrantable
    }
}
