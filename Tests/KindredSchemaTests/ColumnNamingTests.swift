import KindredSchema
import Testing

/// Names that come from a foreign key's own column.
@Suite struct ColumnNamingTests {
    struct Base: Sendable, CustomTestStringConvertible {
        var column: String
        var table: String
        var referenced: String
        var expected: String?

        init(_ column: String, _ table: String, _ referenced: String, _ expected: String?) {
            self.column = column
            self.table = table
            self.referenced = referenced
            self.expected = expected
        }

        var testDescription: String {
            "\(column) -> \(table).\(referenced)"
        }
    }

    @Test(arguments: [
        Base("sender_id", "person", "id", "sender"),
        Base("customer_id", "customers", "customer_id", "customer"),
        Base("billtoaddressid", "address", "addressid", "billtoaddress"),
        Base("country_code", "country", "code", "country"),
        Base("sizeunitmeasurecode", "unitmeasure", "unitmeasurecode", "sizeunitmeasure"),
        Base("productid", "product", "productid", "product"),
        Base("productid", "product", "id", "product"),
        Base("author", "author", "id", "authorObject"),
        Base("reports_to", "employee", "employee_id", "reports_toObject"),
        Base("id", "person", "id", nil),
        Base("ID", "person", "id", nil),
        Base("_id", "person", "id", nil),
        Base("SenderID", "person", "id", "Sender"),
        Base("SenderId", "Person", "PersonId", "Sender"),
        Base("Sender_ID", "person", "id", "Sender"),
        Base("AlbumId", "Album", "AlbumId", "Album"),
        Base("artistId", "artists", "artistId", "artist"),
        Base("author_id", "author", "uuid", "author"),
        Base("authorId", "author", "uuid", "author"),
        Base("authorID", "author", "uuid", "author"),
        Base("AUTHOR_ID", "author", "uuid", "AUTHOR"),
        Base("authorid", "author", "uuid", "author"),
        Base("employeeid", "employee", "businessentityid", "employee"),
        Base("EmployeeID", "employee", "businessentityid", "Employee"),
        Base("EMPLOYEE_ID", "Employee", "no", "EMPLOYEE"),
        Base("employee__id", "employee", "no", "employee_"),
        Base("employeeidx", "employee", "no", "employeeidxObject"),
        Base("managerid", "employee", "businessentityid", "manageridObject"),
        Base("employee", "employee", "no", "employeeObject"),
        Base("author_uuid", "author", "uuid", "author"),
        Base("author_author_uuid", "author", "author_uuid", "author_author"),
        Base("home_country", "country", "country", "home"),
        Base("country", "country", "country", nil),
        Base("owner_ref", "person", "some_ref", "owner"),
        Base("owner__id", "person", "id", "owner_"),
        Base("grössenid", "grösse", "GRÖSSEID", "grössen"),
        Base("x", "person", "id", "xObject"),
    ])
    func columnBaseLosesTheKeysSuffix(_ base: Base) throws {
        let schema = try TestCatalog.make {
            $0.table(base.table, [base.referenced], primaryKey: [base.referenced])
            $0.table("holder", ["holder_no", base.column], primaryKey: ["holder_no"])
            $0.foreignKey("holder_fkey", of: "holder", [base.column], to: base.table, [base.referenced])
        }.schema()
        let toOne = try #require(try schema.relationship("holder", "holder_fkey"))
        let offered = toOne.explanation.filter { $0.rule == .columnName }.map(\.name)
        #expect(offered == (base.expected.map { [$0] } ?? []))
    }

    @Test func compositeKeysAreNamedByTheirOwnColumn() throws {
        let schema = try TestCatalog.make {
            $0.table("companies", ["id"], primaryKey: ["id"])
            $0.table("campaigns", ["id", "company_id"], primaryKey: ["company_id", "id"])
            $0.table("ads", ["id", "company_id", "campaign_id", "first_id"], primaryKey: ["company_id", "id"])
            $0.foreignKey("ads_company_id_fkey", of: "ads", ["company_id"], to: "companies")
            $0.foreignKey("campaigns_company_id_fkey", of: "campaigns", ["company_id"], to: "companies")
            for column in ["campaign_id", "first_id"] {
                $0.foreignKey(
                    "ads_\(column)_fkey", of: "ads", ["company_id", column], to: "campaigns", ["company_id", "id"])
            }
            // The tenant's column is in no other key, but in the primary key.
            $0.table("node", ["tenant", "id", "parent_id"], primaryKey: ["tenant", "id"])
            $0.foreignKey("node_fkey", of: "node", ["tenant", "parent_id"], to: "node", ["tenant", "id"])
        }.schema()
        #expect(try schema.entity(named: "ads").relationships.map(\.name) == ["campaign", "company", "first"])
        #expect(
            try schema.entity(named: "campaigns").relationships.map(\.name)
                == ["campaign_adsSet", "company", "first_adsSet"])
        #expect(try schema.entity(named: "companies").relationships.map(\.name) == ["adsSet", "campaignsSet"])
        #expect(try schema.entity(named: "node").relationships.map(\.name) == ["nodeSet", "parent"])
    }

    @Test func keysThatMakeNoRelationshipShareColumnsToo() throws {
        // The tenant's table is ignored; another key compares periods.
        let schema = try TestCatalog.make {
            $0.table("tenant", ["id"], primaryKey: ["id"])
            $0.comment(onTable: "tenant", #"@kindred {"ignore": true}"#)
            $0.table("person", ["tenant_id", "id"], primaryKey: ["tenant_id", "id"])
            $0.table("email", ["id", "tenant_id", "sender_id"], primaryKey: ["id"])
            $0.foreignKey("a_fkey", of: "email", ["tenant_id"], to: "tenant")
            $0.foreignKey("b_fkey", of: "email", ["tenant_id", "sender_id"], to: "person", ["tenant_id", "id"])
        }.schema()
        #expect(try schema.entity(named: "email").relationships.map(\.name) == ["sender"])
    }

    @Test func compositeKeysOfSeveralColumnsHaveNoColumnName() throws {
        let schema = try TestCatalog.make {
            $0.table("region", ["country_id", "code"], primaryKey: ["country_id", "code"])
            $0.table("site", ["country_id", "code"])
            $0.foreignKey("site_fkey", of: "site", ["country_id", "code"], to: "region", ["country_id", "code"])
        }.schema()
        #expect(
            try schema.summary("site") == ["region public_site_site_fkey site_fkey: manyToOne public.region siteSet"])
        #expect(try schema.summary("region") == ["siteSet public_site_site_fkey: oneToMany public.site region"])
    }
}
