// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Membership: KeyedObject {
    /// The class of the objects.
    public typealias Target = Membership
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int, Int)
    /// The entity `public.membership`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "membership",
        [
            .attribute(\Membership.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\Membership.projectID, "project_id", "integer", name: "projectID"),
            .attribute(\Membership.personID, "person_id", "integer", name: "personID"),
            .attribute(\Membership.role, "role", "enum"),
            .toOne(\Membership.person, "public_membership_person__memberships", name: "person"),
            .toOne(\Membership.project, "public_membership_project__memberships", name: "project"),
        ]
    )
}

extension Membership {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case projectID
        case personID
        case role
        case person
        case project
    }

    /// The column `organization_id`; 0 while a new object has no value.
    public var organizationID: Int {
        get { readProperty(PropertyNumber.organizationID.rawValue) }
        set { writeProperty(PropertyNumber.organizationID.rawValue, newValue) }
    }

    /// The column `project_id`; 0 while a new object has no value.
    public var projectID: Int {
        get { readProperty(PropertyNumber.projectID.rawValue) }
        set { writeProperty(PropertyNumber.projectID.rawValue, newValue) }
    }

    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(PropertyNumber.personID.rawValue) }
        set { writeProperty(PropertyNumber.personID.rawValue, newValue) }
    }

    /// The column `role`; the first label while a new object has no value.
    public var role: MembershipRole {
        get { readProperty(PropertyNumber.role.rawValue) }
        set { writeProperty(PropertyNumber.role.rawValue, newValue) }
    }

    /// The relationship `person`.
    public var person: ToOne<Person> {
        get { toOneProperty(PropertyNumber.person.rawValue) }
        @available(*, unavailable, message: "call try await person.set(object)")
        set {}
    }

    /// The relationship `project`.
    public var project: ToOne<Project> {
        get { toOneProperty(PropertyNumber.project.rawValue) }
        @available(*, unavailable, message: "call try await project.set(object)")
        set {}
    }
}

extension Membership {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        role: MembershipRole,
        person: some ToOneValue<Person>,
        project: some ToOneValue<Project>
    ) -> NewValues<Membership> {
        var values = NewValues<Membership>()
        values.setProperty(PropertyNumber.role.rawValue, role)
        values.setToOne(
            PropertyNumber.person.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.personID.rawValue],
            person
        )
        values.setToOne(
            PropertyNumber.project.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.projectID.rawValue],
            project
        )
        return values
    }
}
