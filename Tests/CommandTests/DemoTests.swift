import CommandSupport
import KindredCommand
import Testing

@Suite struct DemoTests {
    @Test func theTourRunsToItsEndAndShowsItsSQL() async {
        let outcome = await TestCommand()("demo")
        #expect(outcome.status == .success)
        let output = outcome.output
        for part in [
            "What was inferred", "befriended_by", "ada.smith@example.org",
            #"UPDATE "public"."email" AS t SET "person_id""#,
            #"DELETE FROM "public"."person_title_rel""#, "60 authors, 17 categories", "ROLLBACK",
            #"person["surname"] is Smith"#, "did you mean \"emailSet\"?", "+ live@example.org", "That was it",
        ] {
            #expect(output.contains(part), "\(part)")
        }
        #expect(outcome.error.isEmpty)
        #expect(!output.contains("\u{1B}"))
    }
}
