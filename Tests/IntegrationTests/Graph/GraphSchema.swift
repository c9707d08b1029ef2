import Kindred

/// A foreign key of the graph's tables, with the names of its two relationships.
struct GraphKey: Sendable, Hashable {
    let table: String
    /// The relationship of the rows that hold the key.
    let name: String
    let target: String
    /// The relationship of the rows that the key leads to.
    let inverse: String
    /// In the order of the target's primary key.
    let columns: [String]
    /// The columns that become NULL when the relationship is left.
    var leaving: [String]
    var isOneToOne = false
    var isRequired = false
    /// The column by which the members are ordered.
    var position: String?

    init(
        _ table: String, _ name: String, to target: String, _ inverse: String, _ columns: [String],
        leaving: [String]? = nil, isOneToOne: Bool = false, isRequired: Bool = false, position: String? = nil
    ) {
        (self.table, self.name, self.target, self.inverse, self.columns) = (table, name, target, inverse, columns)
        self.leaving = leaving ?? columns
        (self.isOneToOne, self.isRequired, self.position) = (isOneToOne, isRequired, position)
    }

    /// Whether a row that joins another owner gets another primary key.
    var isInPrimaryKey: Bool {
        !Set(columns.filter(leaving.contains)).isDisjoint(with: GraphSchema.key(of: table))
    }
}

/// A table between two others, with the names of the many-to-many relationships through it.
struct GraphHelper: Sendable, Hashable {
    let table: String
    let first: GraphKey
    let second: GraphKey
    /// The relationship of the rows that the first key leads to.
    let name: String
    let inverse: String
    /// A required column beside the two keys.
    var payload: String?
}

/// A relationship as the test knows it, from its own list and not from the library's model.
struct GraphRelation: Sendable, Hashable {
    enum Link: Sendable, Hashable {
        case holds(GraphKey)
        case members(GraphKey)
        case pairs(GraphHelper, isFirst: Bool)
    }

    let table: String
    let name: String
    let target: String
    let link: Link

    var isToMany: Bool {
        switch link {
        case .holds: false
        case .members(let key): !key.isOneToOne
        case .pairs: true
        }
    }

    var position: String? { if case .members(let key) = link { key.position } else { nil } }

    var payload: String? { if case .pairs(let helper, _) = link { helper.payload } else { nil } }
}

/// Small tables with relationships of all kinds, delete rules of several kinds, and unique columns.
enum GraphSchema {
    /// All columns; the primary key's columns come first.
    static let columns: [String: [String]] = [
        "unit": ["id", "name", "parent_id"], "item": ["id", "name", "code", "unit_id"],
        "part": ["id", "name", "item_id"], "step": ["id", "name", "unit_id", "position"],
        "badge": ["id", "name", "unit_id"], "seal": ["id", "name", "badge_id"], "tag": ["id", "name"],
        "item_tag": ["item_id", "tag_id"], "skill": ["id", "name"],
        "training": ["id", "unit_id", "skill_id", "level"], "friendship": ["a_id", "b_id"],
        "tenant": ["id", "name"], "campaign": ["tenant_id", "id", "name"],
        "ad": ["tenant_id", "id", "name", "campaign_id"],
    ]

    /// In an order in which each table's rows may be needed by the next table's.
    static let tables = [
        "tenant", "campaign", "ad", "unit", "item", "part", "step", "badge", "seal", "tag", "item_tag", "skill",
        "training", "friendship",
    ]

    static func key(of table: String) -> [String] {
        switch table {
        case "item_tag", "friendship": columns[table] ?? []
        case "campaign", "ad": ["tenant_id", "id"]
        default: ["id"]
        }
    }

    /// The columns that are neither in a key nor given by the database.
    static func values(of table: String) -> [String] {
        (columns[table] ?? []).filter { ["name", "code", "position", "level"].contains($0) }
    }

    static func isRequired(_ column: String, of table: String) -> Bool {
        column == "level" || column == "name" && (table == "unit" || table == "tag")
            || keys.contains { $0.isRequired && $0.table == table && $0.columns.contains(column) }
    }

    /// The sets of columns, beside the primary keys, whose values are in one row only.
    static let unique: [(table: String, columns: [String])] = [
        ("unit", ["name"]), ("tag", ["name"]), ("item", ["code"]), ("badge", ["unit_id"]), ("seal", ["badge_id"]),
        ("training", ["unit_id", "skill_id"]),
    ]

    static let keys: [GraphKey] =
        [
            GraphKey("unit", "parent", to: "unit", "children", ["parent_id"]),
            GraphKey("item", "unit", to: "unit", "items", ["unit_id"]),
            GraphKey("part", "item", to: "item", "parts", ["item_id"], isRequired: true),
            GraphKey("step", "unit", to: "unit", "steps", ["unit_id"], position: "position"),
            GraphKey("badge", "unit", to: "unit", "badge", ["unit_id"], isOneToOne: true),
            GraphKey("seal", "badge", to: "badge", "seal", ["badge_id"], isOneToOne: true, isRequired: true),
            GraphKey("campaign", "tenant", to: "tenant", "campaigns", ["tenant_id"], isRequired: true),
            GraphKey("ad", "tenant", to: "tenant", "ads", ["tenant_id"], isRequired: true),
            GraphKey(
                "ad", "campaign", to: "campaign", "ads", ["tenant_id", "campaign_id"], leaving: ["campaign_id"]),
        ] + helpers.flatMap { [$0.first, $0.second] }

    static let helpers: [GraphHelper] = [
        GraphHelper(
            table: "item_tag",
            first: GraphKey("item_tag", "item", to: "item", "itemTags", ["item_id"], isRequired: true),
            second: GraphKey("item_tag", "tag", to: "tag", "itemTags", ["tag_id"], isRequired: true),
            name: "tags", inverse: "items"),
        GraphHelper(
            table: "training",
            first: GraphKey("training", "unit", to: "unit", "trainings", ["unit_id"], isRequired: true),
            second: GraphKey("training", "skill", to: "skill", "trainings", ["skill_id"], isRequired: true),
            name: "skills", inverse: "units", payload: "level"),
        GraphHelper(
            table: "friendship",
            first: GraphKey("friendship", "a", to: "item", "friendships", ["a_id"], isRequired: true),
            second: GraphKey("friendship", "b", to: "item", "befriendings", ["b_id"], isRequired: true),
            name: "friends", inverse: "befriended"),
    ]

    static let relations: [GraphRelation] =
        keys.flatMap { key in
            [
                GraphRelation(table: key.table, name: key.name, target: key.target, link: .holds(key)),
                GraphRelation(table: key.target, name: key.inverse, target: key.table, link: .members(key)),
            ]
        }
        + helpers.flatMap { helper in
            [
                GraphRelation(
                    table: helper.first.target, name: helper.name, target: helper.second.target,
                    link: .pairs(helper, isFirst: true)),
                GraphRelation(
                    table: helper.second.target, name: helper.inverse, target: helper.first.target,
                    link: .pairs(helper, isFirst: false)),
            ]
        }

    static func relations(of table: String) -> [GraphRelation] { relations.filter { $0.table == table } }

    static func helper(of table: String) -> GraphHelper? { helpers.first { $0.table == table } }
}

extension GraphSchema {
    /// The tables, the names of the relationships, and a function that puts the first rows back.
    static let sql =
        tablesSQL
        + keys.map { key in
            var options = #""name": "\#(key.name)", "inverse": "\#(key.inverse)""#
            if let position = key.position { options += #", "orderedBy": "\#(position)", "deleteRule": "nullify""# }
            if key.table == "ad", key.name == "campaign" { options += #", "deleteRule": "cascade""# }
            if let helper = helpers.first(where: { $0.first == key }) {
                options += #", "manyToMany": "\#(helper.name)""#
            }
            if let helper = helpers.first(where: { $0.second == key }) {
                options += #", "manyToMany": "\#(helper.inverse)""#
            }
            return "COMMENT ON CONSTRAINT \(key.table)_\(key.name) ON \(key.table) IS '@kindred {\(options)}';\n"
        }.joined()
        + resetSQL

    private static let tablesSQL = """
        CREATE TABLE tenant (id integer PRIMARY KEY, name text);
        CREATE TABLE campaign (
            tenant_id integer CONSTRAINT campaign_tenant REFERENCES tenant, id integer, name text,
            PRIMARY KEY (tenant_id, id));
        CREATE TABLE ad (
            tenant_id integer CONSTRAINT ad_tenant REFERENCES tenant, id integer, name text, campaign_id integer,
            PRIMARY KEY (tenant_id, id),
            CONSTRAINT ad_campaign FOREIGN KEY (tenant_id, campaign_id) REFERENCES campaign);
        CREATE TABLE unit (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,
            parent_id integer CONSTRAINT unit_parent REFERENCES unit ON UPDATE CASCADE ON DELETE SET NULL);
        CREATE TABLE item (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text, code integer UNIQUE,
            unit_id integer CONSTRAINT item_unit REFERENCES unit ON UPDATE CASCADE ON DELETE SET NULL);
        CREATE TABLE part (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text,
            item_id integer NOT NULL CONSTRAINT part_item REFERENCES item ON DELETE CASCADE);
        CREATE TABLE step (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text,
            unit_id integer CONSTRAINT step_unit REFERENCES unit ON UPDATE CASCADE, position integer);
        CREATE TABLE badge (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text,
            unit_id integer UNIQUE CONSTRAINT badge_unit REFERENCES unit ON UPDATE CASCADE ON DELETE SET NULL);
        CREATE TABLE seal (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text,
            badge_id integer NOT NULL UNIQUE CONSTRAINT seal_badge REFERENCES badge ON DELETE RESTRICT);
        CREATE TABLE tag (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE item_tag (
            item_id integer CONSTRAINT item_tag_item REFERENCES item ON DELETE CASCADE,
            tag_id integer CONSTRAINT item_tag_tag REFERENCES tag, PRIMARY KEY (item_id, tag_id));
        CREATE TABLE skill (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text);
        CREATE TABLE training (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            unit_id integer NOT NULL CONSTRAINT training_unit REFERENCES unit ON UPDATE CASCADE ON DELETE CASCADE,
            skill_id integer NOT NULL CONSTRAINT training_skill REFERENCES skill ON DELETE RESTRICT,
            level integer NOT NULL, UNIQUE (unit_id, skill_id));
        CREATE TABLE friendship (
            a_id integer CONSTRAINT friendship_a REFERENCES item ON DELETE CASCADE,
            b_id integer CONSTRAINT friendship_b REFERENCES item ON DELETE CASCADE, PRIMARY KEY (a_id, b_id));

        """

    /// To truncate the tables would take longer than to delete their few rows.
    private static let resetSQL = """
        CREATE FUNCTION reset_graph() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
            \(tables.reversed().map { "DELETE FROM \($0);" }.joined(separator: " "))
            INSERT INTO tenant VALUES (1, 't1'), (2, 't2');
            INSERT INTO campaign VALUES (1, 1, 'c1'), (1, 2, 'c2'), (2, 1, 'c3');
            INSERT INTO ad VALUES (1, 1, 'a1', 1), (1, 2, 'a2', 1), (1, 3, 'a3', NULL), (2, 1, 'a4', 1), (2, 2, 'a5', NULL);
            INSERT INTO unit VALUES (1, 'u1', NULL), (2, 'u2', 1), (3, 'u3', 1), (4, 'u4', 2), (5, 'u5', NULL);
            INSERT INTO item VALUES (1, 'i1', 10, 1), (2, 'i2', 20, 1), (3, 'i3', 30, 2), (4, 'i4', NULL, 2),
                (5, 'i5', 50, 3), (6, 'i6', NULL, NULL), (7, 'i7', 70, 5);
            INSERT INTO part VALUES (1, 'p1', 1), (2, 'p2', 1), (3, 'p3', 2), (4, 'p4', 3), (5, 'p5', 5);
            INSERT INTO step VALUES (1, 's1', 1, 1), (2, 's2', 1, 2), (3, 's3', 1, 3), (4, 's4', 2, 1), (5, 's5', 2, 5),
                (6, 's6', NULL, NULL);
            INSERT INTO badge VALUES (1, 'b1', 1), (2, 'b2', 2), (3, 'b3', NULL), (4, 'b4', NULL);
            INSERT INTO seal VALUES (1, 'l1', 1), (2, 'l2', 3);
            INSERT INTO tag VALUES (1, 'g1'), (2, 'g2'), (3, 'g3'), (4, 'g4');
            INSERT INTO item_tag VALUES (1, 1), (1, 2), (2, 1), (3, 3), (5, 4);
            INSERT INTO skill VALUES (1, 'k1'), (2, 'k2'), (3, 'k3');
            INSERT INTO training VALUES (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 1, 1);
            INSERT INTO friendship VALUES (1, 2), (2, 1), (1, 3), (4, 4);
            PERFORM setval(pg_get_serial_sequence(name, 'id'), 100, false) FROM unnest(
                ARRAY['unit', 'item', 'part', 'step', 'badge', 'seal', 'tag', 'skill', 'training']) AS name;
        END $$;

        """

    /// Every row of every table as one text: lines of a table and its columns, NULL as nothing.
    static let everything = SQL(
        unsafeRaw: "SELECT string_agg(line, E'\\n') FROM ("
            + tables.map { table in
                let list = (columns[table] ?? []).map { "coalesce(\($0)::text, '')" }.joined(separator: " || '|' || ")
                return "SELECT '\(table)|' || \(list) AS line FROM \(table)"
            }.joined(separator: " UNION ALL ") + ") AS rows")
}
