import Testing

@testable import KindredPostgres

@Suite struct SecurityRiskTests {
    @Test func aVersionOfLibPQIsOldUpToTheOneThatMendsIt() {
        let fixed: [Int32: Int32] = [14: 23, 15: 18, 16: 14, 17: 10, 18: 4]
        for major: Int32 in 10...20 {
            for minor: Int32 in 0...30 {
                let risk = SecurityRisk(ofLibrary: major * 10_000 + minor)
                let isOld = major < 14 || fixed[major].map { minor < $0 } ?? false
                #expect((risk != nil) == isOld, "\(major).\(minor)")
                if isOld {
                    let fix = max(14, major) * 10_000 + (fixed[max(14, major)] ?? 0)
                    #expect(risk == .oldLibrary(major * 10_000 + minor, fixedIn: fix), "\(major).\(minor)")
                }
            }
        }
        // Numbered in another way.
        #expect(SecurityRisk(ofLibrary: 90_624) != nil && SecurityRisk(ofLibrary: 0) != nil)
    }

    @Test func aWarningNamesBothVersions() {
        let message = SecurityRisk(ofLibrary: 150_012)?.message ?? ""
        #expect(message.contains("libpq 15.12") && message.contains("15.18"), "\(message)")
    }
}
