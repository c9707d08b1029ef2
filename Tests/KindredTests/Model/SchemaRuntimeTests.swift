import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredSchema

/// Entities and relationships refer to each other: both ways, and only as long as their schema is held.
@Suite struct SchemaRuntimeTests {
    /// The fixture's schema with the helper between people and titles.
    private static var schema: DatabaseSchema {
        let columns = ["person_id", "title_id"].enumerated().map { number, name in
            Attribute(name: name, number: number + 1, typeName: "integer", type: .int4, isNotNull: true)
        }
        let helper = Entity(
            name: ConditionFixture.name("person_title_rel"), kind: .table, oid: 2, attributes: columns)
        return DatabaseSchema(entities: ConditionFixture.schema.entities + [helper], searchPath: ["public"])
    }

    @Test func everyRelationshipLeadsThereAndBack() {
        let runtime = SchemaRuntime(Self.schema)
        for entity in runtime.entities {
            for (slot, relationship) in entity.relationships.enumerated() {
                let inverse = relationship.inverse
                #expect(relationship.source === entity && relationship.slot == slot)
                #expect(inverse.source === relationship.destination && inverse.inverse === relationship)
                #expect(relationship.destination.name == relationship.model.destination)
                #expect(relationship.ownColumns == inverse.otherColumns)
                #expect(entity.relationship(named: relationship.model.name) === relationship)
            }
        }
    }

    @Test func aHelperKnowsBothEnds() throws {
        let runtime = SchemaRuntime(Self.schema)
        let titles = try #require(try runtime.entity(named: "person").relationship(named: "titles"))
        let helper = try #require(titles.helper)
        #expect(titles.linkRows === helper.entity && titles.linkColumns == [0] && helper.destinationColumns == [1])
        #expect(Set(helper.entity.helperEnds) == [titles, titles.inverse])
    }

    @Test func aRelationshipWithoutItsInverseIsLeftOut() throws {
        let runtime = SchemaRuntime(Self.schema)
        let person = try runtime.entity(named: "person")
        #expect(person.entity.relationship(named: "friends") != nil && person.relationship(named: "friends") == nil)
        #expect(person.relationship(named: "titles")?.model.name == "titles")
        #expect(person.relationship(named: "public_email_email_person_id_fkey")?.model.name == "emailSet")
    }

    @Test func aReplacedSchemaIsFreedAsAWhole() {
        weak var schema: SchemaRuntime?
        weak var entity: EntityRuntime?
        weak var relationship: RelationshipRuntime?
        weak var helper: RelationshipRuntime.HelperLink?
        do {
            let runtime = SchemaRuntime(Self.schema)
            let titles = runtime.entities[0].relationship(named: "titles")
            (schema, entity, relationship, helper) = (runtime, runtime.entities[0], titles, titles?.helper)
            withExtendedLifetime(runtime) { #expect(entity != nil && relationship != nil && helper != nil) }
        }
        #expect(schema == nil && entity == nil && relationship == nil && helper == nil)
    }

    @Test func anObjectHoldsItsSchemaWhenContextAndDatabaseAreGone() throws {
        func object() throws -> DatabaseObject {
            let context = try OfflineContext().context
            let entity = try context.core.runtime.entity(named: "email")
            return context.core.make(entity, entity.emptyRow(context.core.types), in: nil, at: 0)
        }
        let email = try object()
        let person = try #require(email.runtime.relationship(named: "person"))
        #expect(person.destination.name.name == "person" && person.inverse.destination === email.runtime)
    }
}
