import KindredPostgres

@testable import Kindred
@testable import KindredSchema

/// A schema with every kind of relationship: people with emails, titles, friends, a manager, a passport, and orders
/// whose key is composite.
enum ConditionFixture {
    static let schema = DatabaseSchema(entities: entities, searchPath: ["public"])

    /// The schema with the helper between people and titles, which orders each person's titles.
    static let schemaWithHelper: DatabaseSchema = {
        let columns = ["person_id", "title_id", "rank"].enumerated().map { number, name in
            Attribute(name: name, number: number + 1, typeName: "integer", type: .int4, isNotNull: true)
        }
        let helper = Entity(name: name("person_title_rel"), kind: .table, oid: 2, attributes: columns)
        return DatabaseSchema(entities: entities + [helper], searchPath: ["public"])
    }()

    static func entity(_ name: String) throws -> Entity { try schema.entity(named: name) }

    static func name(_ name: String) -> QualifiedName { QualifiedName(schema: "public", name: name) }

    private static let mood = PostgresDataType(rawValue: 70_001)
    private static let cube = PostgresDataType(rawValue: 70_002)

    private static var entities: [Entity] {
        [
            entity(
                "person",
                [
                    ("id", "integer", .int4, true), ("surname", "text", .text, false), ("age", "integer", .int4, false),
                    ("active", "boolean", .bool, true), ("born", "date", .date, false),
                    ("height", "real", .float4, false), ("wealth", "numeric(12,2)", .numeric, false),
                    ("token", "uuid", .uuid, false), ("notes", "json", .json, false), ("data", "jsonb", .jsonb, false),
                    ("tags", "text[]", PostgresDataType(rawValue: 1009), false), ("mood", "mood", mood, false),
                    ("address", "cube", cube, false), ("code", "character(3)", .bpchar, true),
                    ("seen", "timestamp with time zone", .timestamptz, false),
                    ("manager_id", "integer", .int4, false), ("weird \"name\"", "bigint", .int8, false),
                ],
                [
                    relationship("emailSet", .oneToMany, "person", "email", ["id"], ["person_id"], "person"),
                    relationship("passport", .oneToOne, "person", "passport", ["id"], ["holder"], "holderObject"),
                    relationship("manager", .manyToOne, "person", "person", ["manager_id"], ["id"], "reports", true),
                    relationship("reports", .oneToMany, "person", "person", ["id"], ["manager_id"], "manager"),
                    relationship(
                        "titles", .manyToMany, "person", "title", ["id"], ["id"], "people",
                        helper: ["person_title_rel", "person_id", "title_id"]),
                    relationship(
                        "friends", .manyToMany, "person", "person", ["id"], ["id"], "friendOf",
                        helper: ["friendship", "a", "b"]),
                    relationship("orders", .oneToMany, "person", "order", ["id"], ["person_id"], "person"),
                ]
            ),
            entity(
                "email",
                [
                    ("id", "bigint", .int8, true), ("address", "character varying(80)", .varchar, true),
                    ("person_id", "integer", .int4, false), ("size", "integer", .int4, false),
                ],
                [relationship("person", .manyToOne, "email", "person", ["person_id"], ["id"], "emailSet", true)]
            ),
            entity(
                "passport",
                [("id", "integer", .int4, true), ("number", "text", .text, true), ("holder", "integer", .int4, true)],
                [relationship("holderObject", .oneToOne, "passport", "person", ["holder"], ["id"], "passport", true)]
            ),
            entity(
                "title",
                [("id", "integer", .int4, true), ("name", "text", .text, true)],
                [
                    relationship(
                        "people", .manyToMany, "title", "person", ["id"], ["id"], "titles",
                        helper: ["person_title_rel", "title_id", "person_id"])
                ]
            ),
            entity(
                "order",
                [
                    ("tenant", "text", .text, true), ("number", "integer", .int4, true),
                    ("person_id", "integer", .int4, true),
                ],
                [
                    relationship(
                        "lines", .oneToMany, "order", "line", ["tenant", "number"], ["tenant", "order_no"], "order"),
                    relationship("person", .manyToOne, "order", "person", ["person_id"], ["id"], "orders", true),
                ],
                key: ["tenant", "number"]
            ),
            entity(
                "line",
                [
                    ("id", "bigint", .int8, true), ("tenant", "text", .text, true),
                    ("order_no", "integer", .int4, false), ("amount", "numeric", .numeric, true),
                ],
                [
                    relationship(
                        "order", .manyToOne, "line", "order", ["tenant", "order_no"], ["tenant", "number"], "lines",
                        true)
                ]
            ),
            entity("log", [("line", "text", .text, false)], [], key: []),
        ]
    }

    private static func entity(
        _ name: String,
        _ attributes: [(String, String, PostgresDataType, Bool)],
        _ relationships: [Relationship],
        key: [String] = ["id"]
    ) -> Entity {
        Entity(
            name: Self.name(name),
            kind: .table,
            oid: 1,
            attributes: attributes.enumerated().map { number, attribute in
                Attribute(
                    name: attribute.0,
                    number: number + 1,
                    typeName: attribute.1,
                    type: attribute.2,
                    isNotNull: attribute.3,
                    elementType: attribute.2.elementType,
                    enumLabels: attribute.2 == mood ? ["happy", "sad"] : nil
                )
            },
            primaryKey: key,
            relationships: relationships.sorted { $0.name < $1.name }
        )
    }

    private static func relationship(
        _ name: String,
        _ kind: Relationship.Kind,
        _ source: String,
        _ destination: String,
        _ columns: [String],
        _ destinationColumns: [String],
        _ inverse: String,
        _ holdsForeignKey: Bool = false,
        helper: [String]? = nil
    ) -> Relationship {
        Relationship(
            name: name,
            aliases: name == "emailSet" ? ["public_email_email_person_id_fkey"] : [],
            kind: kind,
            isOptional: true,
            source: Self.name(source),
            destination: Self.name(destination),
            inverse: inverse,
            deleteRule: .noAction,
            foreignKey: helper == nil ? "fk" : nil,
            columns: columns,
            destinationColumns: destinationColumns,
            holdsForeignKey: holdsForeignKey,
            helper: helper.map {
                RelationshipHelper(
                    entity: Self.name($0[0]),
                    sourceForeignKey: "f1",
                    destinationForeignKey: "f2",
                    sourceColumns: [$0[1]],
                    destinationColumns: [$0[2]],
                    requiredPayload: [],
                    payload: [],
                    ruleWithoutPayload: .noAction
                )
            }
        )
    }
}

/// An object that is nothing but its values.
struct FakeObject: ObjectReference {
    let entityName: QualifiedName
    let values: [String: PostgresValue]

    init(_ entity: String, _ values: [String: PostgresValue]) {
        entityName = ConditionFixture.name(entity)
        self.values = values
    }

    func attributeValue(named name: String) throws -> PostgresValue? { values[name] }
}
