import Kindred
import KindredLive
import KindredTesting
import Testing

/// Random writes to the rows of several organizations, among them such that hand rows over; then live requests and contexts that
/// follow show to each what plain SQL gives to its role with its settings.
@Suite(.database(.sql(organizationSchema)), .timeLimit(.minutes(10))) struct RandomTenantFollowingTests {
    private static let organizations = [1, 2, 3]

    @Test(arguments: KeyNaming.allCases) func eachSeesWhatSQLGivesIt(_ naming: KeyNaming) async throws {
        try await withTenantWorld(naming) { world in
            var writer = RandomWriter(
                client: world.admin, random: RepeatedRandom(naming == .named ? 1 : 2), expected: ["23"],
                statement: TenantWrites.statement)
            // Kept, so that equal requests are answered by results that were corrected step by step.
            var kept: [LiveRequest<DatabaseObject>.AsyncIterator] = []
            var followers: [TenantFollower] = []
            for organization in Self.organizations {
                for question in Self.questions {
                    kept.append(try await question.request(world.context(organization)).live().makeAsyncIterator())
                }
                followers.append(try TenantFollower(world, organization))
            }
            for round in 0..<8 {
                // Both at the same time.
                let (before, former) = (writer, followers)
                async let written = before.running(25)
                for place in former.indices { followers[place] = try await former[place].loading() }
                writer = try await written
                try await world.database.tracking.catchUp()
                for follower in followers { try await follower.compare(in: world, "\(naming), round \(round)") }
                for organization in Self.organizations {
                    for question in Self.questions {
                        let shown = try await question.shown(in: world.context(organization))
                        let expected = try await world.values(question.sql(organization), of: organization)
                        #expect(
                            shown == expected,
                            "\(naming), round \(round): organization \(organization), \(question.name)")
                    }
                }
            }
            withExtendedLifetime(kept) {}
        }
    }

    /// Policies give each organization its own rows, so that the SQL is the same for all.
    static let questions: [LiveQuestion] = [
        LiveQuestion(
            name: "all",
            request: { try $0.fetch("task").sorted("id") }, text: { "\($0.number ?? 0) \($0["title"] ?? "")" },
            sql: { _ in "SELECT id || ' ' || title FROM task ORDER BY id" }),
        LiveQuestion(
            name: "by a comparison",
            request: { try $0.fetch("task").where("size < %@", 4).sorted("size") }, text: { "\($0.number ?? 0)" },
            sql: { _ in "SELECT id::text FROM task WHERE size < 4 ORDER BY size, id" }),
        LiveQuestion(
            name: "by a value",
            request: { try $0.fetch("task").where("size == %@", 3).sorted("id") }, text: { "\($0.number ?? 0)" },
            sql: { _ in "SELECT id::text FROM task WHERE size = 3 ORDER BY id" }),
        LiveQuestion(
            name: "by members",
            // By a column that pairs do not have: keys are compared in the helper alone, which has its own policy.
            request: { try $0.fetch("task").where("ANY labelSet.name == %@", "urgent").sorted("id") },
            text: { "\($0.number ?? 0)" },
            sql: { _ in
                """
                SELECT id::text FROM task AS t WHERE EXISTS (
                    SELECT FROM task_label AS p JOIN label AS l ON l.id = p.label_id
                    WHERE p.task_id = t.id AND l.name = 'urgent')
                ORDER BY id
                """
            }),
        LiveQuestion(
            name: "with members",
            request: { try $0.fetch("project").sorted("id").prefetch("taskSet") },
            text: { project in
                let tasks = try await project.membersInMemory("taskSet")
                return "\(project.number ?? 0): \(tasks.map(String.init).joined(separator: ","))"
            },
            sql: { _ in
                """
                SELECT p.id || ': ' || coalesce(
                    (SELECT string_agg(t.id::text, ',' ORDER BY t.id) FROM task AS t WHERE t.project_id = p.id), '')
                FROM project AS p ORDER BY p.id
                """
            }),
        LiveQuestion(
            name: "with paired members",
            request: { try $0.fetch("task").sorted("id").prefetch("labelSet").limit(5) },
            text: { task in
                let labels = try await task.membersInMemory("labelSet")
                return "\(task.number ?? 0): \(labels.map(String.init).joined(separator: ","))"
            },
            sql: { _ in
                """
                SELECT t.id || ': ' || coalesce((
                    SELECT string_agg(l.id::text, ',' ORDER BY l.id) FROM task_label AS p JOIN label AS l ON l.id = p.label_id
                    WHERE p.task_id = t.id), '')
                FROM task AS t ORDER BY t.id LIMIT 5
                """
            }),
    ]
}

/// The writes of the other connection.
private enum TenantWrites {
    @Sendable static func statement(_ random: inout RepeatedRandom) -> SQL {
        let (task, organization, size) = (10 + random.key(16), random.key(3), random.key(6))
        let (project, label) = (10 * random.key(2), 5 + 10 * random.key(2))
        switch random.below(13) {
        case 0: return "UPDATE task SET title = title || '.' WHERE id = \(task)"
        case 1, 2: return "UPDATE task SET organization = \(organization) WHERE id = \(task)"
        case 3: return "UPDATE task SET project_id = \(project) WHERE id = \(task)"
        case 4: return "DELETE FROM task WHERE id = \(task)"
        case 5, 6:
            return """
                INSERT INTO task VALUES (\(task), \(organization), \(project), 'new', \(size)) ON CONFLICT (id)
                DO UPDATE SET size = \(size)
                """
        case 7: return "UPDATE task SET size = \(size) WHERE organization = \(organization)"
        case 8: return "INSERT INTO task_label VALUES (\(task), \(label), \(organization)) ON CONFLICT DO NOTHING"
        case 9: return "UPDATE task_label SET organization = \(organization) WHERE task_id = \(task)"
        case 10: return "DELETE FROM task_label WHERE task_id = \(task)"
        case 11: return "UPDATE label SET organization = \(organization) WHERE id = \(label)"
        default: return "UPDATE project SET organization = \(organization), name = name || '.' WHERE id = \(project)"
        }
    }
}

/// Contexts of an organization that follow, and their loaded objects.
private struct TenantFollower: Sendable {
    let organization: Int
    let context: DatabaseContext
    /// Counts, and loads no members.
    let counting: DatabaseContext
    /// Held, with all of their sets loaded.
    private var tasks: Set<DatabaseObject> = []
    private var projects: Set<DatabaseObject> = []
    private var counted: Set<DatabaseObject> = []

    init(_ world: TenantWorld, _ organization: Int) throws {
        self.organization = organization
        context = try world.context(organization, tracking: .automatic)
        counting = try world.context(organization, tracking: .automatic)
    }

    func loading() async throws -> TenantFollower {
        var follower = self
        follower.tasks.formUnion(try await context.fetch("task").all())
        follower.projects.formUnion(try await context.fetch("project").all())
        follower.counted.formUnion(try await counting.fetch("project").all())
        for task in follower.tasks where !task.isDeleted { _ = try? await task.set(forKey: "labelSet").objects }
        for project in follower.projects where !project.isDeleted {
            _ = try? await project.set(forKey: "taskSet").objects
        }
        for project in follower.counted where !project.isDeleted {
            _ = try? await project.set(forKey: "taskSet").count
        }
        return follower
    }

    /// Compares memory with SQL; a row that has come back is another object.
    func compare(in world: TenantWorld, _ comment: String) async throws {
        let shownTasks = try await world.values(
            """
            SELECT concat(t.id, ' ', t.title, ' ', t.size, ': ', (
                SELECT string_agg(l.id::text, ',' ORDER BY l.id) FROM task_label AS p JOIN label AS l ON l.id = p.label_id
                WHERE p.task_id = t.id))
            FROM task AS t
            """, of: organization)
        for task in tasks where !task.isDeleted {
            let labels = try await task.membersInMemory("labelSet").map(String.init).joined(separator: ",")
            let text = "\(task.number ?? 0) \(task["title"] ?? "-") \(task["size"] ?? "-"): \(labels)"
            #expect(shownTasks.contains(.string(text)), "\(comment), organization \(organization): \(text)")
        }
        let shownProjects = try await world.values(
            """
            SELECT concat(p.id, ' ', p.name, ' ', (SELECT count(*) FROM task AS t WHERE t.project_id = p.id), ': ', (
                SELECT string_agg(t.id::text, ',' ORDER BY t.id) FROM task AS t WHERE t.project_id = p.id))
            FROM project AS p
            """, of: organization)
        for project in projects where !project.isDeleted {
            let tasks = try await project.membersInMemory("taskSet")
            let members = tasks.map(String.init).joined(separator: ",")
            let text = "\(project.number ?? 0) \(project["name"] ?? "-") \(tasks.count): \(members)"
            #expect(shownProjects.contains(.string(text)), "\(comment), organization \(organization): \(text)")
        }
        for project in counted where !project.isDeleted {
            let text = "\(project.number ?? 0) \(project["name"] ?? "-") \(try await project.countInMemory("taskSet")):"
            let isShown = shownProjects.contains {
                if case .string(let shown)? = $0 { shown.hasPrefix(text) } else { false }
            }
            #expect(isShown, "\(comment), organization \(organization): \(text)")
        }
    }
}
