import KindredSchema
import Testing

@Suite struct DeleteRuleInferenceTests {
    /// Products and orders, joined by lines with the columns that the test wants beside the two keys.
    private func shop(
        _ columns: [String] = [],
        action: Character = "a",
        isSurrogate: Bool = false,
        _ body: (inout TestCatalog) -> Void = { _ in }
    ) -> TestCatalog {
        .make {
            $0.table("product", ["id"], primaryKey: ["id"])
            $0.table("orders", ["id"], primaryKey: ["id"])
            let own = ["product_id!", "order_id!"] + columns
            if isSurrogate {
                $0.table("line", ["id"] + own, primaryKey: ["id"])
                $0.unique("line_unique", of: "line", ["product_id", "order_id"])
            } else {
                $0.table("line", own, primaryKey: ["product_id", "order_id"])
            }
            $0.foreignKey("line_product_id_fkey", of: "line", ["product_id"], to: "product") {
                $0.deleteAction = action.asciiValue ?? 0
            }
            $0.foreignKey("line_order_id_fkey", of: "line", ["order_id"], to: "orders")
            body(&$0)
        }
    }

    /// The rules of `product.ordersSet` and of `product.lineSet`.
    private func rules(_ catalog: TestCatalog, _ overrides: [SchemaOverride] = []) throws -> [DeleteRule?] {
        let schema = try catalog.schema(overrides)
        let product = try schema.entity(named: "product")
        return [product.relationship(named: "ordersSet"), product.relationship(named: "lineSet")].map { $0?.deleteRule }
    }

    @Test(
        arguments: [
            ("a", DeleteRule.nullify, DeleteRule.noAction, DeleteRule.noAction), ("c", .nullify, .nullify, .cascade),
            ("r", .deny, .deny, .deny), ("n", .nullify, .noAction, .nullify), ("d", .nullify, .noAction, .nullify),
        ] as [(Character, DeleteRule, DeleteRule, DeleteRule)])
    func withPayloadTheHelpersKeyDecides(_ row: (Character, DeleteRule, DeleteRule, DeleteRule)) throws {
        let (action, bare, withPayload, own) = row
        #expect(try rules(shop(action: action)) == [bare, own])
        #expect(try rules(shop(action: action, isSurrogate: true)) == [bare, own])
        for isSurrogate in [false, true] {
            for column in ["quantity!", "quantity"] {
                #expect(try rules(shop([column], action: action, isSurrogate: isSurrogate)) == [withPayload, own])
            }
        }
    }

    @Test func payloadIsWhatSaysMoreThanThatThePairExists() throws {
        var catalog = shop(["updated!", "sum", "number!", "version!", "deleted_at", "hidden", "note"])
        catalog.modifyColumn("updated", of: "line") { ($0.hasDefault, $0.hasInsertTime) = (true, true) }
        catalog.modifyColumn("sum", of: "line") { $0.isGenerated = true }
        catalog.modifyColumn("number", of: "line") { $0.identity = UInt8(ascii: "a") }
        catalog.modifyColumn("deleted_at", of: "line") { $0.type = 1184 }
        catalog.comment(
            onTable: "line",
            #"@kindred {"softDelete": "deleted_at", "filter": "NOT (hidden = 'note')", "optimisticLocking": "version"}"#
        )
        #expect(try catalog.schema().relationship("product", "ordersSet")?.helper?.payload == ["note"])
        #expect(try rules(catalog) == [.noAction, .noAction])
        // A value of the database's is one, too.
        catalog.modifyColumn("note", of: "line") { $0.hasDefault = true }
        #expect(try rules(catalog) == [.noAction, .noAction])
        catalog.modifyColumn("note", of: "line") { $0.isGenerated = true }
        #expect(try catalog.schema().relationship("product", "ordersSet")?.helper?.payload == [])
        #expect(try rules(catalog) == [.nullify, .noAction])
    }

    @Test func aPositionIsNoPayload() throws {
        let ordered = #"@kindred {"orderedBy": "position"}"#
        for key in ["line_product_id_fkey", "line_order_id_fkey"] {
            let catalog = shop(["position"]) { $0.comment(onConstraint: key, of: "line", ordered) }
            #expect(try rules(catalog) == [.nullify, .noAction])
        }
        #expect(try rules(shop(["position"])) == [.noAction, .noAction])
    }

    @Test func eachEndHasTheRuleOfItsOwnKey() throws {
        let schema = try shop(["quantity"], action: "c").schema()
        #expect(try schema.relationship("product", "ordersSet")?.deleteRule == .nullify)
        #expect(try schema.relationship("orders", "productSet")?.deleteRule == .noAction)
    }

    @Test func annotationsAndCodeDecideOtherwise() throws {
        let key = "line_product_id_fkey"
        for rule in DeleteRule.allCases {
            let catalog = shop(["quantity"], action: "r") {
                $0.comment(onConstraint: key, of: "line", #"@kindred {"manyToManyDeleteRule": "\#(rule.rawValue)"}"#)
            }
            #expect(try rules(catalog) == [rule, .deny])
            let override = SchemaOverride.foreignKey(key, of: "line", manyToManyDeleteRule: rule)
            #expect(try rules(shop(["quantity"]), [override]) == [rule, .noAction])
        }
        // A rule that is written for the helper's own relationship counts as if the key said it.
        for (rule, both) in [(DeleteRule.cascade, DeleteRule.nullify), (.deny, .deny), (.noAction, .noAction)] {
            let override = SchemaOverride.foreignKey(key, of: "line", deleteRule: rule)
            #expect(try rules(shop(["quantity"], action: "c"), [override]) == [both, rule])
        }
    }
}
