import Kindred
import KindredPostgres
import KindredSchema

/// The distinct live requests of a database, and which of them a change concerns.
///
/// Requests whose condition is nothing but equalities with values are found by the values in a changed row and by its
/// key, at a cost that does not grow with their number; other requests by the tables that they read.
struct LiveSources: Sendable {
    /// One request, whatever the number of its consumers.
    struct Source: Sendable {
        var query: LiveQuery
        /// The answer in the last snapshot; nil before the first.
        var latest: LiveSnapshot?
        var consumers: [ObjectIdentifier: LiveConsumer] = [:]
    }

    /// Requests of one entity whose conditions are equalities.
    private struct Route: Sendable {
        /// The requests by the columns and values of their conditions.
        var found: [[Int]: [ObjectKey: Set<Int>]] = [:]
        /// The requests whose answers have a row.
        var holders: [ObjectKey: Set<Int>] = [:]

        mutating func remove(_ number: Int, _ equalities: Reads.Equalities) {
            let (columns, values) = (equalities.columns, equalities.values)
            found[columns]?[values]?.remove(number)
            if found[columns]?[values]?.isEmpty == true { found[columns]?[values] = nil }
            if found[columns]?.isEmpty == true { found[columns] = nil }
        }
    }

    private(set) var sources: [Int: Source] = [:]
    private var numbers: [LiveQuery.Key: Int] = [:]
    /// The requests of consumers.
    private var requests: [ObjectIdentifier: Int] = [:]
    private var lastNumber = 0
    /// The requests that read a table, without those found by values.
    private var readers: [QualifiedName: Set<Int>] = [:]
    private var routes: [EntityRuntime: Route] = [:]

    var isEmpty: Bool { sources.isEmpty }

    // MARK: Requests

    /// Adds a consumer, and returns the number of the request.
    mutating func add(_ consumer: LiveConsumer) -> Int {
        let query = consumer.query
        let number = numbers[query.key] ?? lastNumber + 1
        if number > lastNumber {
            lastNumber = number
            numbers[query.key] = number
            sources[number] = Source(query: query)
            enter(number, query)
        }
        sources[number]?.consumers[ObjectIdentifier(consumer)] = consumer
        requests[ObjectIdentifier(consumer)] = number
        return number
    }

    /// Removes a consumer; the request goes with its last consumer.
    ///
    /// - Returns: The number of the request that went.
    mutating func remove(_ consumer: LiveConsumer) -> Int? {
        guard let number = requests.removeValue(forKey: ObjectIdentifier(consumer)) else { return nil }
        sources[number]?.consumers[ObjectIdentifier(consumer)] = nil
        guard sources[number]?.consumers.isEmpty == true else { return nil }
        _ = remove(number)
        return number
    }

    /// The number of a consumer's request.
    func number(of consumer: LiveConsumer) -> Int? { requests[ObjectIdentifier(consumer)] }

    /// Removes a request; returns its consumers.
    mutating func remove(_ number: Int) -> [LiveConsumer] {
        guard let source = sources.removeValue(forKey: number) else { return [] }
        forget(number, source.query)
        for consumer in source.consumers.keys { requests[consumer] = nil }
        leave(number, source)
        return Array(source.consumers.values)
    }

    /// Takes the number from equal requests that come later.
    private mutating func forget(_ number: Int, _ query: LiveQuery) {
        // After a change of the tables two requests may be equal that were not when they came.
        if numbers[query.key] == number { numbers[query.key] = nil }
    }

    /// Lets a request go on in another model, or with other tables behind the relations that it reads.
    mutating func renew(_ number: Int, _ query: LiveQuery) {
        guard var source = sources[number] else { return }
        leave(number, source)
        forget(number, source.query)
        if numbers[query.key] == nil { numbers[query.key] = number }
        source.query = query
        sources[number] = source
        enter(number, query)
        if query.equalities != nil { hold(number, query.entity, from: nil, to: source.latest) }
    }

    /// Enters a request where changes that concern it find it.
    private mutating func enter(_ number: Int, _ query: LiveQuery) {
        guard let equalities = query.equalities else {
            for table in query.sources.keys { readers[table, default: []].insert(number) }
            return
        }
        let (columns, values) = (equalities.columns, equalities.values)
        routes[query.entity, default: Route()].found[columns, default: [:]][values, default: []].insert(number)
    }

    /// Removes a request from the places where changes find it.
    private mutating func leave(_ number: Int, _ source: Source) {
        let query = source.query
        guard let equalities = query.equalities else {
            for table in query.sources.keys {
                readers[table]?.remove(number)
                if readers[table]?.isEmpty == true { readers[table] = nil }
            }
            return
        }
        hold(number, query.entity, from: source.latest, to: nil)
        routes[query.entity]?.remove(number, equalities)
        if routes[query.entity]?.found.isEmpty == true { routes[query.entity] = nil }
    }

    /// Notes the answer to a request; returns its consumers.
    ///
    /// - Parameter changed: the rows that it can differ in from the last; nil for all.
    mutating func set(_ snapshot: LiveSnapshot, of number: Int, changed: RowChanges? = nil) -> [LiveConsumer] {
        guard let source = sources[number] else { return [] }
        if source.query.equalities != nil {
            hold(number, source.query.entity, from: source.latest, to: snapshot, changed: changed)
        }
        sources[number]?.latest = snapshot
        return Array(source.consumers.values)
    }

    /// Rows that have changed, and the changed rows that are in an answer.
    struct RowChanges: Sendable {
        var keys: Set<ObjectKey> = []
        var found: [Member] = []
    }

    /// Notes which rows the answer to a request has.
    private mutating func hold(
        _ number: Int, _ entity: EntityRuntime, from old: LiveSnapshot?, to new: LiveSnapshot?,
        changed: RowChanges? = nil
    ) {
        let kept = Set((changed?.found ?? new?.rows ?? []).map(\.key))
        let known = changed?.keys ?? Set(old?.rows.map(\.key) ?? [])
        for key in known where !kept.contains(key) {
            routes[entity]?.holders[key]?.remove(number)
            if routes[entity]?.holders[key]?.isEmpty == true { routes[entity]?.holders[key] = nil }
        }
        for key in kept { routes[entity]?.holders[key, default: []].insert(number) }
    }

    /// The consumers of a request.
    func consumers(of number: Int) -> [LiveConsumer] { sources[number].map { Array($0.consumers.values) } ?? [] }

    /// The number of a consumer's request, if it has no answer yet.
    func unanswered(_ consumer: LiveConsumer) -> Int? {
        number(of: consumer).flatMap { sources[$0]?.latest == nil ? $0 : nil }
    }

    /// The requests of an entity that are found by values.
    func numbers(of entity: EntityRuntime) -> [Int] {
        routes[entity]?.found.values.flatMap(\.values).flatMap { $0 } ?? []
    }

    /// The context by which an entity's rows are asked for; nil if no request is found by values in them.
    func core(of entity: EntityRuntime) -> ContextCore? {
        routes[entity]?.found.values.lazy.flatMap(\.values).compactMap(\.first).first
            .flatMap { sources[$0]?.query.core }
    }

    // MARK: Changes

    /// The requests to ask after some changes.
    struct Work {
        /// Requests to ask anew.
        var whole: [Int: LiveCause] = [:]
        /// Requests whose changed rows have to be asked for.
        var byKeys: [Int: TableChanges] = [:]
        /// Requests whose prefetched members alone have to be asked for, with the changes of the members' tables.
        var members: [Int: [QualifiedName: TableChanges]] = [:]
        /// Entities whose changed rows have to be read, to find requests by values.
        var routed: [EntityRuntime: TableChanges] = [:]

        mutating func ask(_ number: Int, after gap: Tracking.Gap?) {
            // A table whose rows a policy or a missing key leaves unnamed has lost nothing.
            ask(number, because: gap.flatMap { $0 == .unnamed ? nil : .everything($0) } ?? .change)
        }

        mutating func ask(_ number: Int, because cause: LiveCause) {
            whole[number] = whole[number].map { $0.merged(with: cause) } ?? cause
            byKeys[number] = nil
            members[number] = nil
        }

        /// Reads rows that an earlier step has not read, for the requests that are found by their values.
        mutating func read(_ keys: Set<ObjectKey>, of entity: EntityRuntime) {
            for key in keys.subtracting(routed[entity]?.keys ?? []) {
                routed[entity, default: TableChanges()].updated.updateValue(nil, forKey: key)
            }
        }
    }

    /// More changed keys than these make a request be asked anew.
    private static let manyKeys = 1_000

    func work(for batch: CommittedBatch) -> Work {
        var work = Work()
        for (table, changes) in batch.changes {
            guard let readers = readers[table] else { continue }
            let columns = changes.columns
            for number in readers {
                guard let source = sources[number], source.latest != nil,
                    source.query.isConcerned(by: table, changing: columns)
                else { continue }
                let isNamed = changes.gap == nil && changes.count <= Self.manyKeys
                let isFirst = work.whole[number] == nil && work.byKeys[number] == nil
                if isNamed, isFirst, source.query.memberBranches[table] != nil {
                    work.members[number, default: [:]][table] = changes
                } else if isNamed, isFirst, work.members[number] == nil, source.query.isAskedByKeys,
                    table == source.query.entity.name
                {
                    work.byKeys[number] = changes
                } else {
                    work.ask(number, after: changes.gap)
                }
            }
        }
        for entity in routes.keys {
            guard let changes = batch.changes[entity.name] else { continue }
            guard changes.gap == nil else {
                for number in numbers(of: entity) where sources[number]?.latest != nil {
                    work.ask(number, after: changes.gap)
                }
                continue
            }
            work.routed[entity] = changes
        }
        return work
    }

    /// The requests found by values whose answers changed rows have left, joined, or stayed in; with the changed rows
    /// that are in the answers.
    ///
    /// - Parameter rows: the changed rows that exist.
    func routed(_ changes: TableChanges, of entity: EntityRuntime, present rows: [Member]) throws
        -> [Int: RowChanges]
    {
        guard let route = routes[entity] else { return [:] }
        var result: [Int: RowChanges] = [:]
        for key in changes.keys {
            for number in route.holders[key] ?? [] { result[number, default: RowChanges()].keys.insert(key) }
        }
        for member in rows {
            for (columns, requests) in route.found {
                guard let values = try ObjectKey(member.row, columns) else { continue }
                for number in requests[values] ?? [] where sources[number]?.latest != nil {
                    result[number, default: RowChanges()].keys.insert(member.key)
                    result[number]?.found.append(member)
                }
            }
        }
        return result
    }
}

extension TableChanges {
    /// The columns with other values; nil if rows have come or gone, or if they are not known.
    var columns: Set<ServerText>? {
        guard gap == nil, inserted.isEmpty, deleted.isEmpty else { return nil }
        var columns: Set<ServerText> = []
        for changed in updated.values {
            guard let changed else { return nil }
            columns.formUnion(changed)
        }
        return columns
    }

    /// The keys of all rows that have changed.
    var keys: Set<ObjectKey> { inserted.union(deleted).union(updated.keys) }

}
