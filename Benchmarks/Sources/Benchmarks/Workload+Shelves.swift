/// The tables of members that come and go, and of deletions that take others along.
extension Workload {
    /// The number of rows that a deletion takes along.
    static let cascaded = 10_000
    /// The volumes that are in no shelf, and the shelf that they are put into.
    static let looseVolumes: ClosedRange<Int32> = 10_001...11_000
    static let emptyShelf: Int32 = 2

    /// Volumes go with their shelf by Kindred's rule alone, sheets with their crate by the foreign key.
    static let shelfTables = """
        CREATE TABLE shelf (id int PRIMARY KEY);
        CREATE TABLE volume (id int PRIMARY KEY, shelf_id int REFERENCES shelf, title text NOT NULL);
        COMMENT ON CONSTRAINT volume_shelf_id_fkey ON volume IS '@kindred {"deleteRule": "cascade"}';
        CREATE INDEX ON volume (shelf_id);
        CREATE TABLE crate (id int PRIMARY KEY);
        CREATE TABLE sheet (id int PRIMARY KEY, crate_id int REFERENCES crate ON DELETE CASCADE, title text NOT NULL);
        CREATE INDEX ON sheet (crate_id)
        """

    static let shelfRows = """
        TRUNCATE shelf, volume, crate, sheet;
        INSERT INTO shelf VALUES (1), (\(emptyShelf));
        INSERT INTO volume
        SELECT i, CASE WHEN i <= \(cascaded) THEN 1 END, 'The volume with the number ' || i
        FROM generate_series(1, \(looseVolumes.upperBound)) i;
        INSERT INTO crate VALUES (1);
        INSERT INTO sheet SELECT i, 1, 'The sheet with the number ' || i FROM generate_series(1, \(cascaded)) i;
        ANALYZE shelf, volume, crate, sheet
        """

    static let countOfBooks = "SELECT count(*) FROM book WHERE author_id = $1"
    static let setShelf = "UPDATE volume SET shelf_id = $2::int WHERE id = $1::int"
    /// One transaction each, because a script is one.
    static let deleteShelf = "DELETE FROM volume WHERE shelf_id = 1; DELETE FROM shelf WHERE id = 1"
    static let deleteCrate = "DELETE FROM crate WHERE id = 1"
}
