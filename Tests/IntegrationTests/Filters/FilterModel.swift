import Kindred

/// Projects, tasks and labels as they should be.
struct FilterModel: Equatable {
    struct Task: Equatable {
        var project: Int?
        /// The step that marked it as deleted.
        var mark: Int?
        var labels: Set<Int> = []
    }

    static let count = 4
    static let schema = """
        CREATE TABLE project (id integer PRIMARY KEY, deleted_at timestamptz);
        COMMENT ON TABLE project IS '@kindred {"softDelete": "deleted_at"}';
        CREATE TABLE task (
            id integer PRIMARY KEY, project_id integer REFERENCES project ON DELETE CASCADE, deleted_at timestamptz);
        COMMENT ON TABLE task IS '@kindred {"softDelete": "deleted_at"}';
        CREATE TABLE label (id integer PRIMARY KEY, archived boolean NOT NULL DEFAULT false);
        COMMENT ON TABLE label IS '@kindred {"filter": "archived == false"}';
        CREATE TABLE task_label (
            task_id integer REFERENCES task ON DELETE CASCADE, label_id integer REFERENCES label ON DELETE CASCADE,
            PRIMARY KEY (task_id, label_id));
        INSERT INTO project SELECT i FROM generate_series(1, \(count)) AS i;
        INSERT INTO label SELECT i FROM generate_series(1, \(count)) AS i;
        """

    var projects = [Int: Int?](uniqueKeysWithValues: (1...FilterModel.count).map { ($0, nil) })
    var tasks: [Int: Task] = [:]
    var archived: Set<Int> = []

    init() {}

    /// The database's rows; the moments of deletion come from another model, as far as rows are marked there.
    init(_ client: PostgresClient, marks known: FilterModel) async throws {
        func integer(_ value: PostgresValue?) -> Int? {
            if case .integer(let number)? = value { Int(number) } else { nil }
        }
        for row in try await client.query("SELECT id, deleted_at IS NOT NULL FROM project") {
            guard let id = integer(try row[0]) else { continue }
            let isMarked = try row[1] == .bool(true)
            projects.updateValue(isMarked ? (known.projects[id] ?? nil) ?? -1 : nil, forKey: id)
        }
        for row in try await client.query("SELECT id, project_id, deleted_at IS NOT NULL FROM task") {
            guard let id = integer(try row[0]) else { continue }
            let isMarked = try row[2] == .bool(true)
            tasks[id] = Task(project: integer(try row[1]), mark: isMarked ? known.tasks[id]?.mark ?? -1 : nil)
        }
        for row in try await client.query("SELECT task_id, label_id FROM task_label") {
            if let task = integer(try row[0]), let label = integer(try row[1]) { tasks[task]?.labels.insert(label) }
        }
        archived = Set(try await client.values("SELECT id FROM label WHERE archived").compactMap(integer))
    }

    private func shown(_ ids: some Sequence<Int>) -> [Int] { ids.filter { tasks[$0]?.mark == nil && tasks[$0] != nil } }

    private func shownTasks(of project: Int) -> Set<Int> {
        Set(shown(tasks.filter { $0.value.project == project }.keys))
    }

    /// Does what an action does, as a step.
    mutating func apply(_ action: FilterAction, at step: Int) {
        switch action {
        case .delete(let ids, permanently: true): for id in ids { tasks[id] = nil }
        case .delete(let ids, permanently: false): for id in shown(ids) { tasks[id]?.mark = step }
        case .deleteByCondition(let end): for id in shown(tasks.keys) where id < end { tasks[id]?.mark = step }
        case .deleteProject(let id):
            for task in shownTasks(of: id) { tasks[task]?.mark = step }
            projects.updateValue((projects[id] ?? nil) ?? step, forKey: id)
        case .restore(let ids): for id in ids { tasks[id]?.mark = nil }
        case .restoreProject(let id):
            if let mark = projects[id] ?? nil {
                for (task, row) in tasks where row.project == id && row.mark == mark { tasks[task]?.mark = nil }
            }
            projects.updateValue(nil, forKey: id)
        case .mark(let id, let isMarked):
            let mark = tasks[id]?.mark ?? step
            tasks[id]?.mark = isMarked ? mark : nil
        case .archive(let id, true): archived.insert(id)
        case .archive(let id, false): archived.remove(id)
        case .move(let ids, let project): for id in ids { tasks[id]?.project = project }
        case .leave(let ids, let project):
            for id in ids where tasks[id]?.project == project { tasks[id]?.project = nil }
        case .setTasks(let ids, let project):
            for id in shownTasks(of: project) { tasks[id]?.project = nil }
            for id in ids { tasks[id]?.project = project }
        case .clear(let project): for id in shownTasks(of: project) { tasks[id]?.project = nil }
        case .setLabels(let ids, let id):
            let hidden = (tasks[id]?.labels ?? []).intersection(archived)
            tasks[id]?.labels = hidden.union(ids)
        case .addLabels(let ids, let id): tasks[id]?.labels.formUnion(ids)
        case .removeLabels(let ids, let id): tasks[id]?.labels.subtract(ids)
        case .clearLabels(let id): tasks[id]?.labels.formIntersection(archived)
        case .clearTasks(let label): for id in shown(tasks.keys) { tasks[id]?.labels.remove(label) }
        case .moveByCondition(let from, let to): for id in shownTasks(of: from) { tasks[id]?.project = to }
        case .create(let id, let project): tasks[id] = Task(project: project, mark: nil)
        }
    }

    /// Where a context shows something else.
    func difference(from context: DatabaseContext) async throws -> String? {
        func ids(_ values: [PostgresValue?]) -> Set<Int> {
            Set(values.compactMap { if case .integer(let id)? = $0 { Int(id) } else { nil } })
        }
        let found = ids(try await context.fetch("task").all().map { $0["id"] })
        if found != Set(shown(tasks.keys)) { return "tasks \(found)" }
        let projects = try await context.fetch("project").unfiltered().prefetch("taskSet").all()
        for project in projects {
            guard let id = ids([project["id"]]).first else { continue }
            let (set, expected) = (try await project.set(forKey: "taskSet"), shownTasks(of: id))
            let members = ids(try await set.objects.map { $0["id"] })
            if members != expected { return "project \(id) has \(members), not \(expected)" }
            if try await set.count != expected.count { return "project \(id) counts \(try await set.count)" }
            if try await set.request().count() != expected.count {
                return "the request of project \(id) counts otherwise"
            }
        }
        for task in try await context.fetch("task").unfiltered().all() {
            guard let id = ids([task["id"]]).first else { continue }
            let expected = (tasks[id]?.labels ?? []).subtracting(archived)
            let labels = ids(try await task.set(forKey: "labelSet").objects.map { $0["id"] })
            if labels != expected { return "task \(id) has labels \(labels), not \(expected)" }
            let isFound = try await context.find("task", id) != nil
            if isFound != (tasks[id]?.mark == nil) { return "task \(id) is \(isFound ? "" : "not ")found by its key" }
        }
        for label in try await context.fetch("label").unfiltered().all() {
            guard let id = ids([label["id"]]).first else { continue }
            let expected = Set(shown(tasks.filter { $0.value.labels.contains(id) }.keys))
            let found = ids(try await label.set(forKey: "taskSet").objects.map { $0["id"] })
            if found != expected { return "label \(id) has \(found), not \(expected)" }
        }
        let busy = ids(try await context.fetch("project").where("taskSet.@count > 1").all().map { $0["id"] })
        let expected = Set(
            self.projects.keys.filter { self.projects[$0] == .some(nil) && shownTasks(of: $0).count > 1 })
        return busy == expected ? nil : "projects with several tasks are \(busy), not \(expected)"
    }
}
