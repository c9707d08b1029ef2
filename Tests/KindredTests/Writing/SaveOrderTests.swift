import Testing

@testable import Kindred

/// Referenced objects are stored first; references in a cycle are set afterwards.
@Suite struct SaveOrderTests {
    private func edge(_ from: Int, _ to: Int, kind: Int = 0, isOptional: Bool = true) -> SaveOrder.Edge {
        SaveOrder.Edge(from: from, to: to, kind: kind, isOptional: isOptional)
    }

    @Test func objectsOfOneEntityStayTogether() {
        // Students 0, 2 and 4; classes 1 and 3. One student has no class.
        let order = SaveOrder(entities: [0, 1, 0, 1, 0], edges: [edge(0, 1), edge(2, 3)])
        #expect(order.levels == [[1, 3], [0, 2, 4]] && order.deferred.isEmpty && order.unsolved.isEmpty)
    }

    @Test func treesOfOneEntityAreStoredByLevels() {
        let order = SaveOrder(entities: [0, 0, 0, 0], edges: [edge(1, 0), edge(2, 0), edge(3, 2)])
        #expect(order.levels == [[0], [1, 2], [3]] && order.deferred.isEmpty)
    }

    @Test func longChainsAreSetAfterwards() {
        let edges = (1..<100).map { edge($0, $0 - 1) }
        let order = SaveOrder(entities: Array(repeating: 0, count: 100), edges: edges)
        #expect(order.levels.count <= SaveOrder.maximumLevels + 1 && !order.deferred.isEmpty)
        let required = edges.map { edge($0.from, $0.to, isOptional: false) }
        let strict = SaveOrder(entities: Array(repeating: 0, count: 100), edges: required)
        #expect(strict.levels.count == 100 && strict.deferred.isEmpty)
    }

    @Test func requiredCirclesCannotBeSolved() {
        let order = SaveOrder(
            entities: [0, 1, 2], edges: [edge(0, 1, isOptional: false), edge(1, 0, isOptional: false)])
        #expect(order.unsolved == [0, 1] && order.levels == [[2]])
    }

    /// One statement stores objects of one entity, and the server checks their references after it.
    @Test func requiredCirclesOfOneEntityAreStoredTogether() {
        func known(_ from: Int, _ to: Int, isDeferrable: Bool = false) -> SaveOrder.Edge {
            SaveOrder.Edge(
                from: from, to: to, kind: 0, isOptional: false, isKnown: true, isDeferrable: isDeferrable)
        }
        let order = SaveOrder(entities: [0, 0, 0, 1], edges: [known(0, 1), known(1, 0), known(2, 0), known(3, 2)])
        #expect(order.levels == [[0, 1, 2], [3]] && order.joint == [0: 0, 1: 0, 2: 0] && order.unsolved.isEmpty)
        // Not where one of the keys is unknown, or the circle has objects of another entity.
        let unknown = SaveOrder(entities: [0, 0], edges: [known(0, 1), edge(1, 0, isOptional: false)])
        #expect(unknown.unsolved == [0, 1] && unknown.joint.isEmpty)
        let wide = SaveOrder(entities: [0, 1], edges: [known(0, 1), known(1, 0)])
        #expect(wide.unsolved == [0, 1])
        // Unless a constraint of it can wait.
        let late = SaveOrder(entities: [0, 1], edges: [known(0, 1), known(1, 0, isDeferrable: true)])
        #expect(late.levels.count == 2 && late.unchecked.count == 1 && late.unsolved.isEmpty)
    }

    @Test(arguments: UInt64(1)...200) func everyReferenceIsStoredBeforeOrSetAfterwards(seed: UInt64) {
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        let count = 1 + random(40)
        let entities = (0..<count).map { _ in random(4) }
        let edges = (0..<random(80)).map { _ -> SaveOrder.Edge in
            let (from, to) = (random(count), random(count))
            // Required references lead to earlier objects, so that there is a solution.
            let isOptional = to >= from || random(2) == 0
            let kind = entities[from] * 8 + entities[to] * 2 + (isOptional ? 1 : 0)
            return edge(from, to, kind: kind, isOptional: isOptional)
        }
        let order = SaveOrder(entities: entities, edges: edges)
        #expect(order.unsolved.isEmpty)
        #expect(order.levels.flatMap { $0 }.sorted() == Array(0..<count))
        var level: [Int: Int] = [:]
        for (number, objects) in order.levels.enumerated() { for object in objects { level[object] = number } }
        for (position, edge) in edges.enumerated() {
            if order.deferred.contains(position) {
                #expect(edge.isOptional)
            } else {
                #expect(level[edge.to, default: 0] < level[edge.from, default: 0], "seed \(seed)")
            }
        }
    }

    @Test func aLastResortWaitsOnlyInACircle() {
        func given(_ from: Int, _ to: Int) -> SaveOrder.Edge {
            SaveOrder.Edge(from: from, to: to, kind: 0, isOptional: true, isLastResort: true)
        }
        let chain = SaveOrder(entities: Array(repeating: 0, count: 20), edges: (0..<19).map { given($0, $0 + 1) })
        #expect(chain.levels == (0..<20).reversed().map { [$0] } && chain.deferred.isEmpty)
        let circle = SaveOrder(entities: [0, 0, 0], edges: [given(0, 1), given(1, 0), given(2, 0)])
        #expect(circle.unsolved.isEmpty && !circle.deferred.isEmpty)
        #expect(circle.levels.flatMap { $0 }.sorted() == [0, 1, 2])
    }
}
