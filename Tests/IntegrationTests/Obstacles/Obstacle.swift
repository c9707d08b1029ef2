import Testing

/// An obstacle between a statement and the rows that it writes.
enum Obstacle: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// A BEFORE trigger that returns NULL.
    case skips
    /// A trigger that writes another table and returns NULL.
    case storesElsewhere
    /// A trigger that marks the row instead.
    case marks
    /// A trigger that gives the row another key.
    case changesKey
    /// A trigger that puts the former row back.
    case undoes
    /// A rule that writes another table instead, for some rows.
    case conditionalRule
    /// A rule that writes another table, too: it keeps nothing.
    case alsoRule
    /// A policy of INSERT, UPDATE and DELETE, so that the row is seen and not written.
    case policyOfWrites
    /// A policy that hides the row from everything.
    case policyBefore
    /// A policy that hides a row by its new owner.
    case policyAfter

    var testDescription: String { rawValue }

    var isPolicy: Bool { rawValue.hasPrefix("policy") }
    var isRule: Bool { rawValue.hasSuffix("Rule") }

    /// The operations that cannot succeed for the row.
    ///
    /// Others may, and are judged by the rows that they leave.
    var kept: Set<String> {
        switch self {
        case .skips, .storesElsewhere, .marks, .conditionalRule: ["INSERT", "UPDATE", "DELETE"]
        case .policyOfWrites: ["INSERT", "UPDATE", "DELETE"]
        case .changesKey, .undoes, .alsoRule, .policyBefore, .policyAfter: []
        }
    }

    /// The statements that make the obstacle.
    var sql: String {
        switch self {
        case .skips: triggers("RETURN NULL;")
        case .storesElsewhere: triggers("INSERT INTO elsewhere VALUES (TG_OP, r); RETURN NULL;")
        case .marks:
            triggers(
                """
                IF pg_trigger_depth() > 1 THEN RETURN NEW; END IF;
                IF TG_OP = 'INSERT' THEN
                    INSERT INTO elsewhere VALUES (TG_OP, r);
                ELSE
                    EXECUTE format(
                        'UPDATE %I AS t SET mark = ''kept'' WHERE to_jsonb(t) = %L', TG_TABLE_NAME, to_jsonb(OLD));
                END IF;
                RETURN NULL;
                """)
        case .changesKey:
            triggers(
                """
                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[2], TG_ARGV[3]::integer));
                """)
        case .undoes:
            triggers("IF TG_OP = 'INSERT' THEN RETURN NEW; END IF; RETURN OLD;")
        case .conditionalRule:
            rules { table, event in
                let row = event == "INSERT" ? "NEW" : "OLD"
                return """
                    WHERE \(row).\(table.column) = '\(table.value)' AND (SELECT stands FROM obstacle)
                    DO INSTEAD INSERT INTO elsewhere VALUES ('\(event)', to_jsonb(\(row)))
                    """
            }
        case .alsoRule:
            rules { _, event in
                "DO ALSO INSERT INTO elsewhere VALUES ('\(event)', to_jsonb(\(event == "INSERT" ? "NEW" : "OLD")))"
            }
        case .policyOfWrites:
            policies { table in
                let isOther = "(\(table.column) <> '\(table.value)' OR NOT (SELECT stands FROM obstacle))"
                return """
                    CREATE POLICY s ON \(table.name) FOR SELECT USING (true);
                    CREATE POLICY i ON \(table.name) FOR INSERT WITH CHECK \(isOther);
                    CREATE POLICY u ON \(table.name) FOR UPDATE USING \(isOther) WITH CHECK (true);
                    CREATE POLICY d ON \(table.name) FOR DELETE USING \(isOther);
                    """
            }
        case .policyBefore:
            policies { table in
                """
                CREATE POLICY a ON \(table.name)
                USING (\(table.column) <> '\(table.value)' OR NOT (SELECT stands FROM obstacle));
                """
            }
        case .policyAfter:
            policies { table in
                """
                CREATE POLICY s ON \(table.name) FOR SELECT USING (owner_id = 1 OR NOT (SELECT stands FROM obstacle));
                CREATE POLICY i ON \(table.name) FOR INSERT WITH CHECK (true);
                CREATE POLICY u ON \(table.name) FOR UPDATE USING (true) WITH CHECK (true);
                CREATE POLICY d ON \(table.name) FOR DELETE USING (true);
                """
            }
        }
    }

    private func triggers(_ body: String) -> String {
        """
        CREATE FUNCTION obstruct() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            r jsonb;
        BEGIN
            IF TG_OP = 'INSERT' THEN r := to_jsonb(NEW); ELSE r := to_jsonb(OLD); END IF;
            IF r ->> TG_ARGV[0] IS DISTINCT FROM TG_ARGV[1] THEN
                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                RETURN NEW;
            END IF;
            \(body)
        END $$;

        """
            + ObstacleWorld.tables.map {
                """
                CREATE TRIGGER obstruct BEFORE INSERT OR UPDATE OR DELETE ON \($0.name) FOR EACH ROW
                EXECUTE FUNCTION obstruct('\($0.column)', '\($0.value)', '\($0.key)', '\($0.changedKey)');
                """
            }.joined(separator: "\n")
    }

    private func rules(_ body: (ObstacleWorld.Table, String) -> String) -> String {
        ObstacleWorld.tables.flatMap { table in
            ["INSERT", "UPDATE", "DELETE"].map {
                "CREATE RULE on_\($0.lowercased()) AS ON \($0) TO \(table.name) \(body(table, $0));"
            }
        }.joined(separator: "\n")
    }

    private func policies(_ body: (ObstacleWorld.Table) -> String) -> String {
        ObstacleWorld.tables.map { "ALTER TABLE \($0.name) ENABLE ROW LEVEL SECURITY;\n\(body($0))" }
            .joined(separator: "\n")
    }
}
