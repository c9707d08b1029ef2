import Kindred
import KindredPostgres
import KindredSchema

/// Tells the values of sections apart as the server does.
///
/// Equal values may have several spellings: of `citext`, and in collations that ignore case or accents. The server is asked about
/// spellings that are new.
struct SectionValues: Sendable {
    /// The value of a section.
    enum Value: Hashable, Sendable {
        /// A value of which memory knows the equality; nil for NULL.
        case known(ObjectKey?)
        /// The number of a value with several spellings.
        case spelled(Int)
    }

    private let core: ContextCore
    /// The numbers of the values in the last list, by spelling.
    private var numbers: [ServerText: Int] = [:]
    private var lastNumber = 0

    init(_ core: ContextCore) { self.core = core }

    /// The values of a list's rows in a column; nothing is sent unless a spelling is new.
    mutating func values(of rows: [Row], at column: Int, _ attribute: Attribute?) async throws -> [Value] {
        guard let attribute, attribute.isComparedByServer(with: attribute) else {
            return try rows.map { .known(try ObjectKey($0, [column])) }
        }
        let texts = rows.map { $0.valueOrRaw(at: column).map { ServerText($0.description) } }
        let new = Set(texts.compactMap(\.self).filter { numbers[$0] == nil }).sorted()
        if !new.isEmpty { try await number(new, attribute) }
        // Spellings that no row has any more are forgotten.
        numbers = Dictionary(
            texts.compactMap { text in text.flatMap { text in numbers[text].map { (text, $0) } } },
            uniquingKeysWith: { first, _ in first })
        return texts.map { text in text.flatMap { numbers[$0] }.map { .spelled($0) } ?? .known(nil) }
    }

    /// Numbers new spellings; each spelling of a known value gets the value's number.
    private mutating func number(_ new: [ServerText], _ attribute: Attribute) async throws {
        let known = Dictionary(numbers.map { ($1, $0) }, uniquingKeysWith: { first, _ in first }).sorted {
            $0.key < $1.key
        }
        let statement = try LiveStatements.firstEqual(to: (known.map(\.value) + new).texts, attribute)
        let firsts = try await ask(statement)
        guard firsts.count == known.count + new.count else {
            throw PostgresError(.protocolViolation, "The server has not compared all values of a section")
        }
        var found: [Int: Int] = [:]
        for (place, (number, _)) in known.enumerated() { found[place + 1] = number }
        for (text, first) in zip(new, firsts.dropFirst(known.count)) {
            if found[first] == nil {
                lastNumber += 1
                found[first] = lastNumber
            }
            numbers[text] = found[first]
        }
    }

    /// Asks until the server answers: a connection that is lost is no error.
    private func ask(_ statement: Statement) async throws -> [Int] {
        var pause = Duration.milliseconds(50)
        while true {
            do {
                let result = try await TransactionJournal.with(nil) { try await core.client.execute(statement) }
                return try result.map { Int(try $0.decode(0, as: Int64.self) ?? 0) }
            } catch  where error.isPassing {
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(1))
            }
        }
    }
}
