import KindredPostgres
import TestSupport
import Testing

@testable import KindredSchema

@Suite struct ViewDefinitionTests {
    /// The parsed query of a view in the server's text form, cut down to the parts that are read.
    private func query(
        from: String = "({RANGETBLREF :rtindex 1})",
        rtable: String = "({RANGETBLENTRY :alias <> :rtekind 0 :relid 500 :relkind r})",
        targets: String =
            "({TARGETENTRY :expr {VAR :varno 1} :resno 1 :resname id :resorigtbl 500 :resorigcol 3 :resjunk false})",
        flags: String = ":hasAggs false :hasTargetSRFs false",
        clauses: String = ":groupClause <> :groupingSets <> :setOperations <>",
        ctes: String = "<>"
    ) -> String {
        "{QUERY :commandType 1 \(flags) :cteList \(ctes) :rtable \(rtable) :jointree {FROMEXPR :fromlist \(from) "
            + ":quals <>} :targetList \(targets) \(clauses) :stmt_len 7}"
    }

    private func projection(_ query: String) -> Catalog.Projection? {
        Array("(\(query))".utf8).withBytes { ViewDefinition($0).projection(of: 7) }
    }

    @Test func columnsOfOneTableHaveTheirOrigin() throws {
        let found = try #require(projection(query()))
        #expect(found.view == 7 && found.base == 500 && found.columns == [1: 3])
    }

    @Test func oddNamesAreNoFields() throws {
        let targets =
            "({TARGETENTRY :expr {VAR :varno 1} :resno 1 :resname :resorigtbl :resorigtbl 500 :resorigcol 3 :resjunk false}"
            + #" {TARGETENTRY :resno 2 :resname a\ \{b\}\ :resorigcol\ 9 :resorigtbl 500 :resorigcol 4 :resjunk false}"#
            + #" {TARGETENTRY :resno 3 :resname a[\\ :resorigtbl 500 :resorigcol 5 :resjunk false})"#
        #expect(projection(query(targets: targets))?.columns == [1: 3, 2: 4, 3: 5])
    }

    @Test func columnsOfOtherOriginAreLeftOut() {
        let targets =
            "({TARGETENTRY :resno 1 :resorigtbl 0 :resorigcol 0 :resjunk false}"
            + " {TARGETENTRY :resno 2 :resorigtbl 501 :resorigcol 4 :resjunk false}"
            + " {TARGETENTRY :resno 3 :resorigtbl 500 :resorigcol 5 :resjunk true}"
            + " {TARGETENTRY :resno 4 :resorigtbl 500 :resorigcol 6 :resjunk false})"
        #expect(projection(query(targets: targets))?.columns == [4: 6])
    }

    @Test func oldServersListTheViewItselfFirst() {
        let rtable =
            "({RANGETBLENTRY :rtekind 0 :relid 7} {RANGETBLENTRY :rtekind 0 :relid 7} {RANGETBLENTRY :rtekind 0 :relid 500})"
        #expect(projection(query(from: "({RANGETBLREF :rtindex 3})", rtable: rtable))?.base == 500)
    }

    @Test func subqueriesAndCommonTableExpressionsAreFollowed() {
        let sub = "({RANGETBLENTRY :rtekind 1 :subquery \(query())})"
        #expect(projection(query(rtable: sub))?.base == 500)
        let cte = "({COMMONTABLEEXPR :ctename x :ctequery \(query()) :cterecursive false})"
        let use = "({RANGETBLENTRY :rtekind 6 :ctename x :ctelevelsup 0})"
        #expect(projection(query(rtable: use, ctes: cte))?.base == 500)
        let recursive = "({COMMONTABLEEXPR :ctename x :ctequery \(query()) :cterecursive true})"
        #expect(projection(query(rtable: use, ctes: recursive)) == nil)
        #expect(projection(query(rtable: use)) == nil)
        let outer = "({RANGETBLENTRY :rtekind 6 :ctename x :ctelevelsup 1})"
        #expect(projection(query(rtable: outer, ctes: cte)) == nil)
        let joined = "({RANGETBLENTRY :rtekind 1 :subquery \(query(from: "({JOINEXPR :rtindex 1})"))})"
        #expect(projection(query(rtable: joined)) == nil)
    }

    @Test func whateverMayRepeatRowsIsNoProjection() {
        #expect(projection(query(from: "({RANGETBLREF :rtindex 1} {RANGETBLREF :rtindex 1})")) == nil)
        #expect(projection(query(from: "({JOINEXPR :jointype 0 :rtindex 1})")) == nil)
        #expect(projection(query(from: "<>")) == nil)
        #expect(projection(query(from: "({RANGETBLREF :rtindex 2})")) == nil)
        #expect(projection(query(from: "({RANGETBLREF :rtindex 0})")) == nil)
        #expect(projection(query(flags: ":hasAggs true :hasTargetSRFs false")) == nil)
        #expect(projection(query(flags: ":hasAggs false :hasTargetSRFs true")) == nil)
        #expect(projection(query(flags: ":hasAggs false")) == nil)
        for clause in ["groupClause", "groupingSets", "setOperations"] {
            let clauses = ":groupClause <> :groupingSets <> :setOperations <>"
            let changed = clauses.replacing(":\(clause) <>", with: ":\(clause) ({SOMETHING})")
            #expect(projection(query(clauses: changed)) == nil, "\(clause)")
        }
        for kind in [2, 3, 4, 5, 7, 8, 9] {
            #expect(projection(query(rtable: "({RANGETBLENTRY :rtekind \(kind) :relid 500})")) == nil)
        }
    }

    @Test func deepNestingEnds() {
        var nested = query()
        for _ in 0..<40 { nested = query(rtable: "({RANGETBLENTRY :rtekind 1 :subquery \(nested)})") }
        #expect(projection(nested) == nil)
    }

    @Test func damagedTextIsNoProjectionAndNoTrap() {
        let cte = "({COMMONTABLEEXPR :ctename x :ctequery \(query()) :cterecursive false})"
        let whole = Array(
            "(\(query(rtable: "({RANGETBLENTRY :rtekind 6 :ctename x :ctelevelsup 0})", ctes: cte)))".utf8)
        let letters = Array("{}()\\: \"<>0139aZ\u{0}\n".utf8)
        var generator = SeededGenerator(seed: 11)
        for length in whole.indices {
            Array(whole[..<length]).withBytes { _ = ViewDefinition($0).projection(of: 7) }
        }
        for _ in 0..<5_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<damaged.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: damaged[place] = generator.pick(letters)
                case 1: damaged.insert(generator.pick(letters), at: place)
                default: damaged.remove(at: place)
                }
            }
            damaged.withBytes { _ = ViewDefinition($0).projection(of: 7) }
        }
    }
}
