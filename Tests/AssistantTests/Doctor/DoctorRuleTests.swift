import KindredDoctor
import Testing

@Suite struct DoctorRuleTests {
    @Test func numbersAndNamesAreUniqueAndSorted() {
        let rules = DoctorRule.all
        #expect(Set(rules.map(\.id)).count == rules.count && Set(rules.map(\.name)).count == rules.count)
        #expect(rules.map(\.id) == rules.map(\.id).sorted())
        #expect(DoctorRule.named("K101")?.name == "unindexed-foreign-key")
        #expect(DoctorRule.named("unindexed-foreign-key")?.id == "K101")
        #expect(DoctorRule.named("K999") == nil)
    }
}
