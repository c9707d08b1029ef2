import KindredDDL
import KindredPostgres
import KindredSchema

/// The mended comments of annotations that do not fit: the whole text without the members at fault.
struct AnnotationRepairs: Sendable {
    /// How many comments are examined in one run, since each member of a comment takes a model: the other comments get
    /// a repair in a later run.
    private static let mostComments = 20

    /// A comment with an annotation that does not fit.
    struct Comment: Sendable {
        /// Its table or view, and the name of the column or constraint that it stands on.
        let relation: UInt32
        let name: String?
        let object: CatalogObject
        fileprivate let target: Target
        /// The comment without the members at fault; nil where it was not examined.
        fileprivate(set) var text: String?

        enum Target { case relation, column, constraint }
    }

    /// The comments by the places that problems name.
    private var comments: [ServerText: Comment] = [:]

    /// No comments.
    init() {}

    init(_ examination: Examination) {
        guard !examination.problems.isEmpty else { return }
        var indexes: [ServerText: Int] = [:]
        let wanted = Set(texts: examination.problems.map(\.location))
        for (index, comment) in examination.catalog.comments.enumerated() {
            guard let found = Self.describe(comment, examination), wanted.contains(found.location),
                indexes[found.location] == nil
            else { continue }
            indexes[found.location] = index
            comments[found.location] = found.comment
        }
        for location in indexes.keys.sorted().texts.prefix(Self.mostComments) {
            guard let index = indexes[location] else { continue }
            comments[location]?.text = Self.fitting(at: index, location, of: examination.catalog)
        }
    }

    private static func describe(
        _ comment: Catalog.Comment, _ examination: Examination
    ) -> (location: String, comment: Comment)? {
        let found: Comment
        switch comment.object {
        case .relation(let oid):
            found = Comment(relation: oid, name: nil, object: .relation(oid), target: .relation)
        case .column(let oid, let number):
            guard let column = examination.column(number, of: oid) else { return nil }
            found = Comment(relation: oid, name: column.name, object: .column(oid, number), target: .column)
        case .constraint(let oid, let name, let relation):
            found = Comment(relation: relation, name: name, object: .constraint(oid), target: .constraint)
        }
        guard let table = examination.relations[found.relation]?.qualifiedName else { return nil }
        return (comment.object.location(on: table, column: found.name ?? ""), found)
    }

    /// The comment with as many of its annotation's members as fit together; its text alone where JSON cannot be read.
    private static func fitting(at index: Int, _ location: String, of catalog: Catalog) -> String {
        let text = catalog.comments[index].text
        guard let annotation = DoctorAnnotation(text) else { return DoctorAnnotation.withoutMark(text) }
        var kept: Set<ServerText> = []
        var result = annotation.keeping(kept)
        for name in annotation.members.keys.sorted() {
            let attempt = annotation.keeping(kept.union([ServerText(name)]))
            var catalog = catalog
            catalog.comments[index].text = attempt
            let problems = Examination.model(of: catalog).problems
            if problems.contains(where: { $0.location == location }) { continue }
            kept.insert(name)
            result = attempt
        }
        return result
    }

    /// The comment that a problem is about; nil if it is no annotation.
    func comment(of problem: AnnotationProblem) -> Comment? { comments[problem.location] }

    /// The mended comments, by their objects.
    var texts: [CatalogObject: String] {
        comments.values.reduce(into: [:]) { $0[$1.object] = $1.text }
    }

    /// The COMMENT statement that mends a problem; none if the problem is not about a comment.
    func statements(for problem: AnnotationProblem, in examination: Examination) throws -> [String] {
        guard let comment = comments[problem.location], let text = comment.text,
            let relation = examination.relations[comment.relation]
        else { return [] }
        let table = try RepairText.name(relation)
        let target =
            switch comment.target {
            case .relation: "\(Self.kind(of: relation)) \(table)"
            case .column: "COLUMN \(table).\(try RepairText.name(comment.name ?? ""))"
            case .constraint: "CONSTRAINT \(try RepairText.name(comment.name ?? "")) ON \(table)"
            }
        return ["COMMENT ON \(target) IS \(text.isEmpty ? "NULL" : DDL.literal(text))"]
    }

    private static func kind(of relation: DoctorCatalog.Relation) -> String {
        switch relation.kind {
        case UInt8(ascii: "v"): "VIEW"
        case UInt8(ascii: "m"): "MATERIALIZED VIEW"
        case UInt8(ascii: "f"): "FOREIGN TABLE"
        default: "TABLE"
        }
    }
}
