import Kindred
import KindredTesting
import Testing

/// Join tables and tables without a key as other frameworks make them: a unique index over NOT NULL columns is a key.
@Suite(.database(.empty), .timeLimit(.minutes(10))) struct FrameworkSchemaTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        /// The relationship of the first table that has to be there, such as `post.tags`.
        let pair: (entity: String, name: String)
    }

    static let cases = [
        Case(
            testDescription: "Prisma: implicit many-to-many, a unique index and no key",
            sql: """
                CREATE TABLE "Post" ("id" SERIAL NOT NULL, "title" TEXT NOT NULL, CONSTRAINT "Post_pkey" PRIMARY KEY ("id"));
                CREATE TABLE "Tag" ("id" SERIAL NOT NULL, "name" TEXT NOT NULL, CONSTRAINT "Tag_pkey" PRIMARY KEY ("id"));
                CREATE UNIQUE INDEX "Tag_name_key" ON "Tag"("name");
                CREATE TABLE "_PostToTag" ("A" INTEGER NOT NULL, "B" INTEGER NOT NULL);
                CREATE UNIQUE INDEX "_PostToTag_AB_unique" ON "_PostToTag"("A", "B");
                CREATE INDEX "_PostToTag_B_index" ON "_PostToTag"("B");
                ALTER TABLE "_PostToTag" ADD CONSTRAINT "_PostToTag_A_fkey" FOREIGN KEY ("A") REFERENCES "Post"("id")
                    ON DELETE CASCADE ON UPDATE CASCADE;
                ALTER TABLE "_PostToTag" ADD CONSTRAINT "_PostToTag_B_fkey" FOREIGN KEY ("B") REFERENCES "Tag"("id")
                    ON DELETE CASCADE ON UPDATE CASCADE;
                INSERT INTO "Post" ("title") VALUES ('a'); INSERT INTO "Tag" ("name") VALUES ('b'), ('c');
                """, pair: ("Post", "TagSet")),
        Case(
            testDescription: "Prisma: @@unique in place of @@id",
            sql: """
                CREATE TABLE "User" ("id" TEXT NOT NULL, CONSTRAINT "User_pkey" PRIMARY KEY ("id"));
                CREATE TABLE "Team" ("id" TEXT NOT NULL, CONSTRAINT "Team_pkey" PRIMARY KEY ("id"));
                CREATE TABLE "Membership" ("userId" TEXT NOT NULL, "teamId" TEXT NOT NULL, "role" TEXT NOT NULL DEFAULT 'member');
                CREATE UNIQUE INDEX "Membership_userId_teamId_key" ON "Membership"("userId", "teamId");
                ALTER TABLE "Membership" ADD CONSTRAINT "Membership_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id")
                    ON DELETE RESTRICT ON UPDATE CASCADE;
                ALTER TABLE "Membership" ADD CONSTRAINT "Membership_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id")
                    ON DELETE RESTRICT ON UPDATE CASCADE;
                INSERT INTO "User" VALUES ('u'); INSERT INTO "Team" VALUES ('s'), ('t');
                """, pair: ("User", "TeamSet")),
        Case(
            testDescription: "Rails: join model with an id and a unique index",
            sql: """
                CREATE TABLE physicians (id bigserial PRIMARY KEY, name character varying);
                CREATE TABLE patients (id bigserial PRIMARY KEY, name character varying);
                CREATE TABLE appointments (id bigserial PRIMARY KEY, physician_id bigint NOT NULL, patient_id bigint NOT NULL,
                    created_at timestamp(6) without time zone NOT NULL DEFAULT now(),
                    updated_at timestamp(6) without time zone NOT NULL DEFAULT now());
                CREATE UNIQUE INDEX index_appointments_on_physician_id_and_patient_id ON appointments USING btree
                    (physician_id, patient_id);
                CREATE INDEX index_appointments_on_patient_id ON appointments USING btree (patient_id);
                ALTER TABLE ONLY appointments ADD CONSTRAINT fk_rails_a FOREIGN KEY (physician_id) REFERENCES physicians(id);
                ALTER TABLE ONLY appointments ADD CONSTRAINT fk_rails_b FOREIGN KEY (patient_id) REFERENCES patients(id);
                INSERT INTO physicians (name) VALUES ('a'); INSERT INTO patients (name) VALUES ('b'), ('c');
                """, pair: ("physicians", "patientsSet")),
        Case(
            testDescription: "Rails: create_join_table with a unique index",
            sql: """
                CREATE TABLE assemblies (id bigserial PRIMARY KEY); CREATE TABLE parts (id bigserial PRIMARY KEY);
                CREATE TABLE assemblies_parts (assembly_id bigint NOT NULL, part_id bigint NOT NULL);
                CREATE UNIQUE INDEX index_assemblies_parts_on_assembly_id_and_part_id ON assemblies_parts USING btree
                    (assembly_id, part_id);
                ALTER TABLE ONLY assemblies_parts ADD CONSTRAINT fk_rails_c FOREIGN KEY (assembly_id) REFERENCES assemblies(id);
                ALTER TABLE ONLY assemblies_parts ADD CONSTRAINT fk_rails_d FOREIGN KEY (part_id) REFERENCES parts(id);
                INSERT INTO assemblies DEFAULT VALUES; INSERT INTO parts DEFAULT VALUES; INSERT INTO parts DEFAULT VALUES;
                """, pair: ("assemblies", "partsSet")),
        Case(
            testDescription: "Ecto: unique_index over columns that are not null",
            sql: """
                CREATE TABLE posts (id bigserial PRIMARY KEY); CREATE TABLE tags (id bigserial PRIMARY KEY);
                CREATE TABLE posts_tags (
                    post_id bigint NOT NULL CONSTRAINT posts_tags_post_id_fkey REFERENCES posts(id) ON DELETE CASCADE,
                    tag_id bigint NOT NULL CONSTRAINT posts_tags_tag_id_fkey REFERENCES tags(id) ON DELETE CASCADE);
                CREATE UNIQUE INDEX posts_tags_post_id_tag_id_index ON posts_tags (post_id, tag_id);
                INSERT INTO posts DEFAULT VALUES; INSERT INTO tags DEFAULT VALUES; INSERT INTO tags DEFAULT VALUES;
                """, pair: ("posts", "tagsSet")),
        Case(
            testDescription: "Fluent: unique(on:) makes a constraint",
            sql: """
                CREATE TABLE "galaxies" ("id" UUID PRIMARY KEY DEFAULT gen_random_uuid());
                CREATE TABLE "tags" ("id" UUID PRIMARY KEY DEFAULT gen_random_uuid());
                CREATE TABLE "galaxy+tag" ("id" UUID PRIMARY KEY DEFAULT gen_random_uuid(),
                    "galaxy_id" UUID NOT NULL REFERENCES "galaxies" ("id"), "tag_id" UUID NOT NULL REFERENCES "tags" ("id"),
                    CONSTRAINT "uq:galaxy+tag.galaxy_id+galaxy+tag.tag_id" UNIQUE ("galaxy_id", "tag_id"));
                INSERT INTO galaxies DEFAULT VALUES; INSERT INTO tags DEFAULT VALUES; INSERT INTO tags DEFAULT VALUES;
                """, pair: ("galaxies", "tagsSet")),
    ]

    /// The pair is read, inserted, removed, and nothing of the database is read only.
    @Test(arguments: cases) func aUniqueIndexMakesAPair(_ proof: Case) async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await client.runScript(proof.sql)
        let database = try await Database.connect(try TestDatabase.current.uri)
        #expect(database.schema.entities.allSatisfy { !$0.isReadOnly })
        let context = database.makeContext()
        let owner = try #require(try await context.fetch(proof.pair.entity).first())
        let set = try await owner.set(forKey: proof.pair.name)
        let relationship = try #require(owner.entity.relationship(named: proof.pair.name))
        let pairs = try #require(relationship.helper).entity.name
        let others = try await context.fetch(relationship.destination.name).all()
        #expect(relationship.kind == .manyToMany && others.count == 2)
        try await set.insert(others[0])
        try await set.formUnion(others)
        #expect(try await set.count == 2)
        let count: SQL = "SELECT count(*) FROM \(identifier: pairs)"
        #expect(try await client.value(count) == 2)
        try await set.remove(others[0])
        #expect(try await client.value(count) == 1)
        // A row of the helper is an object of its own.
        let pair = try #require(try await context.fetch(pairs).first())
        try await context.delete(pair)
        #expect(try await client.value(count) == 0)
        await database.close()
        await client.close()
    }
}
