import KindredAssistant
import KindredSchema
import KindredTesting
import Testing

/// All findings in sixty tables, of which about half are in order.
@Suite(.database(.file("Fixtures/shapes.sql"))) struct DoctorShapesTests {
    private static let longName = "a_table_whose_name_takes_nearly_all_the_letters_of_names"

    /// The findings that SQL can repair.
    private static let repairable: Set<String> = [
        "K101:public.track.track_playlist_id_fkey",
        "K102:public.code.code_value_b",
        "K102:public.country.country_unique",
        "K103:public.log_line.log_line_at",
        "K201:public.payment.payment_first",
        "K201:public.slip.slip_late",
        "K206:public.employee.taskSet",
        "K206:public.task.employee",
        "K209:public.enrolment",
        "K209:public.grading",
        "K210:public.\(longName).employeeId",
        "K210:public.\(longName).employee_id",
        "K210:public.note.author_id",
        "K210:public.review.document_id",
        "K221:public.egg",
        "K222:public.item.item_shelf_id_fkey",
        "K301:public.schema_info",
        "K301:public.vehicle",
        "K302:public.folder.folder_parent_id_name_key",
        "K402:public.run_as_owner()",
        "K404:public.diary",
        "K405:public.account.account_read",
        "K405:public.plan.plan_admin",
        "K502:public.track.track_playlist_id_fkey",
        "K503:public.document.version",
        "K503:public.price.lock_version",
    ]

    /// The findings whose repair would fail, would harm, or is the owner's to write.
    private static let others: Set<String> = [
        "K202:public.fine_measure.fine_measure_sensor_id_fkey",
        "K202:public.reading.reading_sensor_id_fkey",
        "K203:public.slip.slip_late",
        "K205:public.sale.sale_shop_code_fkey",
        "K301:archive.document",
        "K301:public.asset",
        "K302:public.invoice.invoice_tenant_external_number_key",
        "K303:public.counter.id",
        "K304:public.reading_count",
        "K311:public.mixed.Name",
        "K403:public.ledger",
        "K410:public.account.account_read",
        "K414:public.account",
        "K415:public.next_number()",
        "K502:public.chapter.chapter_playlist_id_fkey",
    ]

    /// The findings but for what the server's age and version decide.
    private func findings(_ client: PostgresClient) async throws -> [DoctorFinding] {
        try await client.allFindings().findings.filter { !["K104", "K409"].contains($0.rule) }
    }

    @Test func whatIsFoundIsTrueAndNothingIsMissing() async throws {
        try await withDoctorClient { client in
            let findings = try await findings(client)
            let expected = Self.repairable.union(Self.others)
            #expect(findings.map(\.ignoreKey).count == expected.count)
            #expect(Set(findings.map(\.ignoreKey)).subtracting(expected).sorted() == [], "not expected")
            #expect(expected.subtracting(findings.map(\.ignoreKey)).sorted() == [], "not found")
            let unrepaired = Set(findings.filter(\.repair.isEmpty).map(\.ignoreKey))
            #expect(unrepaired.symmetricDifference(Self.others).sorted() == [])
        }
    }

    /// Each repair succeeds after the repairs before it, and the repaired findings are gone.
    @Test func allRepairsFitTogether() async throws {
        try await withDoctorClient { client in
            try await client.repair(try await client.allFindings())
            _ = try await SchemaReader.read(from: client)
            let after = Set(try await findings(client).map(\.ignoreKey))
            #expect(after.intersection(Self.repairable).sorted() == [])
            // K201 has dropped the key that K203 would have checked.
            #expect(Self.others.subtracting(after) == ["K203:public.slip.slip_late"])
        }
    }

    /// The rule says of a name what the model says, and so what `kindred inspect` shows.
    @Test func aContestedNameIsSaidToBelongToNoneOnlyWhereNoneHasIt() async throws {
        try await withDoctorClient { client in
            // More foreign keys and helpers between the same tables, so that more names are claimed.
            try await client.runScript(
                """
                CREATE TABLE lesson (id integer PRIMARY KEY, student_id integer REFERENCES student,
                    course_id integer REFERENCES course, student integer REFERENCES student, teacher_id integer REFERENCES student);
                CREATE TABLE exam (course_id integer REFERENCES course, student_id integer REFERENCES student,
                    PRIMARY KEY (course_id, student_id));
                CREATE VIEW lessons AS SELECT * FROM lesson;
                """)
            let schema = try await SchemaReader.read(from: client)
            let found = try await client.allFindings().findings(of: "K206")
            #expect(found.count > 3)
            for finding in found {
                let name = try #require(finding.object)
                let entity = try schema.entity(named: try #require(finding.entity))
                let owner = entity.relationship(named: name)
                #expect(finding.message.hasSuffix("so that none has it") == (owner == nil), "\(finding.message)")
                if let owner { #expect(finding.message.contains("only \(owner.name) "), "\(finding.message)") }
            }
        }
    }
}
