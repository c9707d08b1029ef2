/// Functions without a search path of their own, which depend on the session's, where tables and views call them.
///
/// Functions of C need none. Reads run the functions of policies, views and the checks of domains, writes also the
/// functions of triggers, defaults, checks, index expressions, generated columns and rules.
package enum LooseFunctions {
    /// The beginning of a query, with `found (function, relation, reads)`.
    ///
    /// - Parameter isWithin: the condition on the OID of a relation.
    package static func query(within isWithin: (_ relation: String) -> String) -> String {
        """
        WITH loose (oid) AS (
            SELECT p.oid FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
            WHERE p.oid >= 16384 AND NOT l.lanname = ANY ('{internal,c}'::pg_catalog.name[])
                AND NOT EXISTS (
                    SELECT FROM pg_catalog.unnest(p.proconfig) AS s (text)
                    WHERE s.text ~~ 'search_path=%'::pg_catalog.text)
        ), uses (class, object, relation, reads) AS (
            SELECT 'pg_catalog.pg_attrdef'::pg_catalog.regclass, d.oid, d.adrelid, false FROM pg_catalog.pg_attrdef AS d
            WHERE \(isWithin("d.adrelid"))
            UNION ALL SELECT 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid, t.tgrelid, false FROM pg_catalog.pg_trigger AS t
            WHERE \(isWithin("t.tgrelid")) AND NOT t.tgisinternal
            UNION ALL SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, k.conrelid, false
            FROM pg_catalog.pg_constraint AS k WHERE \(isWithin("k.conrelid")) AND k.contype = 'c'::pg_catalog."char"
            UNION ALL SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid, i.indrelid, false
            FROM pg_catalog.pg_index AS i WHERE \(isWithin("i.indrelid"))
            UNION ALL SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass, r.oid, r.ev_class, r.rulename = '_RETURN'
            FROM pg_catalog.pg_rewrite AS r WHERE \(isWithin("r.ev_class"))
            UNION ALL SELECT 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid, p.polrelid, true
            FROM pg_catalog.pg_policy AS p WHERE \(isWithin("p.polrelid"))
        ), found (function, relation, reads) AS (
            SELECT d.refobjid, u.relation, u.reads FROM uses AS u
            JOIN pg_catalog.pg_depend AS d ON d.classid = u.class AND d.objid = u.object
            WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.refobjid = ANY (
                SELECT l.oid FROM loose AS l)
            UNION ALL SELECT d.refobjid, a.attrelid, true FROM pg_catalog.pg_attribute AS a
            JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid AND t.typtype = 'd'::pg_catalog."char"
            JOIN pg_catalog.pg_constraint AS k ON k.contypid = t.oid
            JOIN pg_catalog.pg_depend AS d
                ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND d.objid = k.oid
            WHERE \(isWithin("a.attrelid")) AND d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
                AND d.refobjid = ANY (SELECT l.oid FROM loose AS l)
        )
        """
    }
}
