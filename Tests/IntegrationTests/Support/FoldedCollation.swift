import Kindred

/// Makes the collation `folded`, for which texts in different case are equal.
///
/// On a server that was built without ICU there is no such collation: there it tells them apart.
let foldedCollation = """
    DO $do$ BEGIN
        CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    EXCEPTION WHEN feature_not_supported THEN
        CREATE COLLATION folded FROM "C";
    END $do$;
    """

/// Whether the server has collations that ignore case.
func hasFoldedCollation(_ other: PostgresClient) async throws -> Bool {
    try await other.value("SELECT 'a' = 'A' COLLATE folded") == true
}
