import KindredSchema
import KindredTesting
import Testing

@testable import KindredDoctor

/// Rules about a server's state and newer versions, by rows made by hand.
@Suite struct DoctorStateTests {
    @Test(arguments: [(150_014, true), (150_015, false), (130_023, true), (180_001, false), (190_000, false)])
    func aServerIsOutdatedByItsVersion(version: Int, isOutdated: Bool) {
        var world = DoctorWorld()
        world.facts.settings.serverVersion = version
        #expect(world.findings(of: "K409").isEmpty != isOutdated)
    }

    @Test func aKeyThatIsNotEnforcedIsFound() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"]) {
            $0.isEnforced = false
            $0.isValidated = false
        }
        #expect(
            world.findings(of: "K204").map(\.repair)
                == [[#"ALTER TABLE "public"."child" ALTER CONSTRAINT "key_a" ENFORCED"#]])
        #expect(world.findings(of: "K203").isEmpty)
    }

    /// Unused indexes, but for unique ones and the only one of a foreign key; not before seven days, and not on a standby.
    @Test func anUnusedIndexIsFoundOnceStatisticsAreOldEnough() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addIndex(["a"]) { $0.name = "needed" }
        world.addIndex(["b"]) { $0.name = "unused" }
        world.addIndex(["c"]) {
            $0.name = "used"
            $0.scans = 1
        }
        world.addIndex(["d"]) {
            $0.name = "unique"
            $0.isUnique = true
        }
        world.facts.settings.statisticsAge = 8 * 86_400
        #expect(world.findings(of: "K104").map(\.object) == ["unused"])
        world.addIndex(["a", "b"]) { $0.name = "also" }
        #expect(world.findings(of: "K104").map(\.object) == ["needed", "unused"])
        for change: (inout DoctorCatalog.Settings) -> Void in [
            { $0.statisticsAge = 6 * 86_400 }, { $0.isStandby = true }, { $0.countsAccess = false },
            { $0.statisticsAge = nil },
        ] {
            var other = world
            change(&other.facts.settings)
            #expect(other.findings(of: "K104").isEmpty)
            #expect(Doctor.report(on: other.examination, DoctorOptions()).skipped.map(\.rule) == ["K104"])
        }
    }

    @Test func anExtensionInPublicIsFound() {
        var world = DoctorWorld()
        #expect(world.findings(of: "K416").isEmpty)
        world.facts.publicExtensions = ["postgis", "citext"]
        #expect(world.findings(of: "K416").map(\.ignoreKey) == ["K416:citext", "K416:postgis"])
    }

    /// K103 drops the shorter index because of the longer one, so that K104 leaves it.
    @Test func ofAShorterAndAnUnusedIndexOneStays() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addIndex(["a"]) {
            $0.name = "short"
            $0.scans = 1
        }
        world.addIndex(["a", "b"]) { $0.name = "long" }
        world.facts.settings.statisticsAge = 8 * 86_400
        #expect(world.findings(of: "K103").map(\.object) == ["short"])
        #expect(world.findings(of: "K104").isEmpty)
        world.addIndex(["a", "c"]) {
            $0.name = "other"
            $0.scans = 1
        }
        #expect(world.findings(of: "K104").map(\.object) == ["long"])
    }

    @Test func rulesAboutTenantsNeedTheirColumn() {
        let facts = DoctorWorld().facts
        func report(_ column: String?) -> DoctorReport {
            Doctor.report(on: Examination(Catalog(), facts, tenantColumn: column), DoctorOptions())
        }
        #expect(report("tenant").findings(of: "K411").map(\.entity) == ["public.parent"])
        #expect(report(nil).findings(of: "K411").isEmpty)
        #expect(report(nil).skipped.map(\.rule) == ["K104"])
        #expect(report("owner").findings(of: "K411").isEmpty)
        #expect(report("owner").skipped.map(\.rule) == ["K104", "K411"])
    }

    @Test func aRolePastRowSecurityAndALatePathAreFound() {
        var catalog = Catalog()
        catalog.role = "app"
        catalog.bypassesRowSecurity = true
        catalog.searchPath = ["public", "pg_catalog"]
        var facts = DoctorWorld().facts
        #expect(Doctor.report(on: Examination(catalog, facts), DoctorOptions()).keys == ["K408:search_path"])
        facts.policies.append(.init(oid: 1, relation: DoctorWorld.child, name: "own", using: "true"))
        let report = Doctor.report(on: Examination(catalog, facts), DoctorOptions())
        #expect(report.keys == ["K404:public.child", "K407:app", "K408:search_path"])
    }
}
