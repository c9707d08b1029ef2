import EmbeddedPostgres
import KindredSchemaDifferences
import TestSupport
import Testing

/// The catalog after a plan is equal to the catalog after the script of the new side, by SQL that is not the
/// comparison's own.
enum CatalogOracle {
    /// Each pair's number with whether its plan may be several transactions: both in full runs, else one and the other in turn.
    static func plans(of count: Int) -> [(Int, Bool)] {
        (0..<count).flatMap { number in
            TestAmount.isFull ? [(number, true), (number, false)] : [(number, number.isMultiple(of: 2))]
        }
    }

    /// Compares two scripts, runs the statements on a database with the old one, and expects the catalog of the new one.
    ///
    /// - Parameters:
    ///   - allowsDropping: Whether statements may drop things; if not, the catalog is not looked at.
    ///   - isConcurrent: Whether the plan may be several transactions.
    static func expectChange(
        _ from: String, _ to: String, allowsDropping: Bool = true, isConcurrent: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> SchemaDifferences {
        var options = SchemaDifferences.Options()
        options.allowsDropping = allowsDropping
        options.isConcurrent = isConcurrent
        options.extensions = ["earthdistance"]
        let differences = try await between(from, to, options)
        var isTried = differences.proof == .proven
        if case .skipped(let reason) = differences.proof { isTried = reason.hasSuffix("which only a superuser may do") }
        #expect(
            differences.steps.isEmpty || isTried,
            "\(differences.proof)\n\(differences.sql)", sourceLocation: sourceLocation)
        let changed = try await lines(after: [from] + scripts(of: differences))
        if allowsDropping {
            let wanted = try await lines(after: [to])
            #expect(changed == wanted, "\(differences.sql)", sourceLocation: sourceLocation)
        }
        return differences
    }

    /// Compares two scripts, or two databases in which a superuser has run them where that is needed.
    static func between(
        _ from: String, _ to: String, _ options: SchemaDifferences.Options = .init()
    ) async throws -> SchemaDifferences {
        // A script's statements for these are not run.
        guard ["FOREIGN DATA WRAPPER", "EVENT TRIGGER", "OPERATOR CLASS"].contains(where: (from + to).contains) else {
            return try await SchemaDifferences.between(.sql(from, name: "from"), .sql(to, name: "to"), options: options)
        }
        return try await withDatabase([from]) { _, old in
            try await withDatabase([to]) { _, new in
                try await SchemaDifferences.between(
                    try SchemaSource(argument: old), try SchemaSource(argument: new), options: options)
            }
        }
    }

    /// The roles that the scripts of the tests name.
    private static let roles = """
        DO $$ DECLARE name text; BEGIN FOREACH name IN ARRAY ARRAY['kindred_diff_role', 'kindred diff role'] LOOP
            BEGIN EXECUTE format('CREATE ROLE %I', name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
        END LOOP; END $$
        """

    /// The steps as scripts, as psql gets them.
    static func scripts(of differences: SchemaDifferences) -> [String] {
        differences.steps.flatMap { step in
            let statements = step.statements.map { $0.sql + ";" }
            return step.isTransaction ? ["BEGIN;\n\(statements.joined(separator: "\n"))\nCOMMIT;"] : statements
        }
    }

    static func statements(_ differences: SchemaDifferences) -> [String] {
        differences.steps.flatMap { $0.statements.map(\.sql) }
    }

    /// Runs scripts in a new database, and lists everything that its catalog holds.
    private static func lines(after scripts: [String]) async throws -> [String] {
        try await withDatabase(scripts) { client, _ in
            try await client.query(SQL(unsafeRaw: query)).map { try $0.decode(0, as: String.self) ?? "" }
        }
    }

    /// Lends a new database on the server of the tests, in which its superuser has run scripts, with its address.
    static func withDatabase<T>(
        _ scripts: [String], _ body: (PostgresClient, String) async throws -> T
    ) async throws -> T {
        let server = try await EmbeddedPostgres.shared()
        let maintenance = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
        let name = "kindred_oracle_\(UInt64.random(in: 0...UInt64.max))"
        try await maintenance.runScript(roles)
        try await maintenance.query(
            "CREATE DATABASE \(identifier: name) TEMPLATE template0\(unsafeRaw: server.copyStrategy)")
        let result: Result<T, any Error>
        do {
            let client = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri(database: name)))
            do {
                for script in scripts { try await client.runScript(script) }
                result = .success(try await body(client, server.uri(database: name)))
            } catch {
                result = .failure(error)
            }
            await client.close()
        } catch {
            result = .failure(error)
        }
        try await maintenance.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
        await maintenance.close()
        return try result.get()
    }

    private static let query = """
        WITH mine AS (SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
        SELECT concat_ws(' ', 'function', pg_get_functiondef(p.oid)) FROM pg_proc AS p JOIN mine AS n ON n.oid = p.pronamespace
            WHERE p.prokind <> 'a' AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.objid = p.oid AND e.deptype IN ('e', 'i'))
        UNION ALL SELECT concat_ws(' ', 'aggregate', p.oid::regprocedure, a.aggtransfn, a.aggtranstype::regtype, a.agginitval)
            FROM pg_aggregate AS a JOIN pg_proc AS p ON p.oid = a.aggfnoid JOIN mine AS n ON n.oid = p.pronamespace
        UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), t.tgenabled)
            FROM pg_trigger AS t WHERE NOT t.tgisinternal
        UNION ALL SELECT concat_ws(' ', 'policy', p) FROM pg_policies AS p
        UNION ALL SELECT concat_ws(' ', 'rule', pg_get_ruledef(w.oid), w.ev_enabled) FROM pg_rewrite AS w WHERE w.oid >= 16384
        UNION ALL SELECT concat_ws(' ', 'extension', e.extname, e.extversion, e.extnamespace::regnamespace)
            FROM pg_extension AS e
        UNION ALL SELECT concat_ws(' ', 'table', c.oid::regclass, c.relrowsecurity, c.relforcerowsecurity, c.relreplident,
                c.reloptions, t.reloptions, (SELECT string_agg(concat_ws(' ', i.indexrelid::regclass, i.indisreplident,
                    i.indisclustered), ',' ORDER BY i.indexrelid::regclass::text) FROM pg_index AS i WHERE i.indrelid = c.oid))
            FROM pg_class AS c LEFT JOIN pg_class AS t ON t.oid = c.reltoastrelid JOIN mine AS n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'm', 'f')
        UNION ALL SELECT concat_ws(' ', 'column', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod),
                a.attnotnull, a.attstattarget, a.attstorage, a.attcompression,
                (SELECT string_agg(o, ',' ORDER BY o) FROM unnest(a.attoptions) AS o WHERE o LIKE 'n_distinct%'),
                pg_get_expr(d.adbin, d.adrelid))
            FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN mine AS n ON n.oid = c.relnamespace
            LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'm', 'v', 'f', 'i')
        UNION ALL SELECT concat_ws(' ', 'constraint', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
            FROM pg_constraint AS k JOIN mine AS n ON n.oid = k.connamespace WHERE k.contype <> 'n' AND k.conrelid <> 0
        UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid) FROM pg_index AS i
            JOIN pg_class AS c ON c.oid = i.indexrelid JOIN mine AS n ON n.oid = c.relnamespace
        UNION ALL SELECT concat_ws(' ', 'type', t.oid::regtype, t.typtype, (SELECT string_agg(e.enumlabel, ',' ORDER BY
            e.enumsortorder) FROM pg_enum AS e WHERE e.enumtypid = t.oid)) FROM pg_type AS t JOIN mine AS n
            ON n.oid = t.typnamespace WHERE t.typtype IN ('e', 'd', 'r')
        UNION ALL SELECT concat_ws(' ', 'privileges', x.kind, x.name, COALESCE(r.rolname, 'PUBLIC'), g.privilege_type,
                g.is_grantable)
            FROM (SELECT 'relation' AS kind, c.oid::regclass::text AS name,
                    COALESCE(c.relacl, acldefault('r', c.relowner)) AS list, c.relowner AS owner
                FROM pg_class AS c JOIN mine AS n ON n.oid = c.relnamespace
                UNION ALL SELECT 'column', concat_ws('.', a.attrelid::regclass, a.attname), a.attacl, c.relowner
                FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN mine AS n ON n.oid = c.relnamespace
                WHERE NOT a.attisdropped
                UNION ALL SELECT 'function', p.oid::regprocedure::text, COALESCE(p.proacl, acldefault('f', p.proowner)), p.proowner
                FROM pg_proc AS p JOIN mine AS n ON n.oid = p.pronamespace
                UNION ALL SELECT 'type', t.oid::regtype::text, COALESCE(t.typacl, acldefault('T', t.typowner)), t.typowner
                FROM pg_type AS t JOIN mine AS n ON n.oid = t.typnamespace
                UNION ALL SELECT 'schema', s.nspname::text, COALESCE(s.nspacl, acldefault('n', s.nspowner)), s.nspowner
                FROM pg_namespace AS s JOIN mine AS n ON n.oid = s.oid
                UNION ALL SELECT 'server', v.srvname::text, v.srvacl, v.srvowner FROM pg_foreign_server AS v
                UNION ALL SELECT 'default', concat_ws(' ', d.defaclrole::regrole, d.defaclnamespace, d.defaclobjtype),
                    d.defaclacl, d.defaclrole FROM pg_default_acl AS d WHERE d.defaclnamespace = 'public'::regnamespace) AS x
            CROSS JOIN aclexplode(x.list) AS g LEFT JOIN pg_roles AS r ON r.oid = g.grantee WHERE g.grantee <> x.owner
        UNION ALL SELECT concat_ws(' ', 'comment', i.type, i.identity, d.description) FROM pg_description AS d
            CROSS JOIN pg_identify_object(d.classoid, d.objoid, d.objsubid) AS i WHERE d.objoid >= 16384
        UNION ALL SELECT concat_ws(' ', 'object', i.type, i.identity)
            FROM (SELECT 'pg_operator'::regclass AS class, oid FROM pg_operator
                UNION ALL SELECT 'pg_cast'::regclass, oid FROM pg_cast
                UNION ALL SELECT 'pg_collation'::regclass, oid FROM pg_collation
                UNION ALL SELECT 'pg_ts_dict'::regclass, oid FROM pg_ts_dict
                UNION ALL SELECT 'pg_ts_config'::regclass, oid FROM pg_ts_config
                UNION ALL SELECT 'pg_foreign_server'::regclass, oid FROM pg_foreign_server
                UNION ALL SELECT 'pg_foreign_data_wrapper'::regclass, oid FROM pg_foreign_data_wrapper) AS o
            CROSS JOIN pg_identify_object(o.class, o.oid, 0) AS i WHERE o.oid >= 16384
        UNION ALL SELECT concat_ws(' ', 'event trigger', evtname, evtevent, evtenabled, evttags) FROM pg_event_trigger
        UNION ALL SELECT concat_ws(' ', 'mapping', m.mapcfg::regconfig, m.maptokentype, m.mapseqno, m.mapdict::regdictionary)
            FROM pg_ts_config_map AS m WHERE m.mapcfg >= 16384
        UNION ALL SELECT concat_ws(' ', 'foreign table', t.ftrelid::regclass, t.ftoptions) FROM pg_foreign_table AS t
        UNION ALL SELECT concat_ws(' ', 'statistics', pg_get_statisticsobjdef(s.oid), s.stxstattarget)
            FROM pg_statistic_ext AS s
        ORDER BY 1
        """
}
