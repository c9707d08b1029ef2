import Kindred
import TestSupport
import TypeModels

/// Writes random conditions with every operator that typed columns have.
struct OperatorWriter {
    var random: SeededGenerator
    let world: OperatorWorld
    /// The operators that took part so far.
    private(set) var used: Set<String> = []

    init(_ random: SeededGenerator, _ world: OperatorWorld) {
        self.random = random
        self.world = world
    }

    mutating func use(_ name: String) -> String {
        used.insert(name)
        return name
    }

    /// The same, one of several at random.
    mutating func choose<Element>(_ elements: [(String, Element)]) -> (String, Element) {
        let element = random.pick(elements)
        used.insert(element.0)
        return element
    }

    mutating func keeperCase(_ depth: Int) -> TypedCase<Keeper> {
        tree(depth) { writer, depth in
            let places = [
                TypedPlace<Keeper, Keeper>(text: "$0", columns: { $0 }, object: { $0 }),
                TypedPlace(text: "$0.boss", columns: { $0.boss }, object: { $0.boss.loaded }),
                TypedPlace(text: "$0.boss.boss", columns: { $0.boss.boss }, object: { $0.boss.loaded?.boss.loaded }),
            ]
            let index = [0, 0, 0, 1, 2].randomElement(using: &writer.random) ?? 0
            return writer.leaf(places[index], depth, among: places)
        }
    }

    mutating func petCase(_ depth: Int) -> TypedCase<Pet> {
        tree(depth) { writer, depth in
            let places = [
                TypedPlace<Pet, Keeper>(text: "$0.keeper", columns: { $0.keeper }, object: { $0.keeper.loaded }),
                TypedPlace(
                    text: "$0.keeper.boss", columns: { $0.keeper.boss }, object: { $0.keeper.loaded?.boss.loaded }),
            ]
            let own = TypedPlace<Pet, Pet>(text: "$0", columns: { $0 }, object: { $0 })
            return switch Int.random(in: 0..<4, using: &writer.random) {
            case 0: writer.leaf(writer.random.pick(places), depth, among: places)
            case 1: writer.texts(own.term("name", { $0.name }, { $0.name }), own.term("name", { $0.name }, { $0.name }))
            default:
                writer.numbers(own.term("weight", { $0.weight }, { $0.weight }), own.term("id", { $0.id }, { $0.id }))
            }
        }
    }

    mutating func clubCase(_ depth: Int) -> TypedCase<Club> {
        tree(depth) { writer, depth in
            let own = TypedPlace<Club, Club>(text: "$0", columns: { $0 }, object: { $0 })
            let members = own.members("members", { $0.members }, { $0.members.loaded })
            return switch Int.random(in: 0..<3, using: &writer.random) {
            case 0: writer.texts(own.term("name", { $0.name }, { $0.name }), own.term("name", { $0.name }, { $0.name }))
            case 1: writer.numbers(own.term("id", { $0.id }, { $0.id }), writer.count(of: members, depth))
            default: writer.members(members, depth) { $0.keeperCase($1) }
            }
        }
    }

    /// Conditions joined by `&&`, `||` and `!`.
    private mutating func tree<Root>(
        _ depth: Int,
        _ leaf: (inout OperatorWriter, Int) -> TypedCase<Root>
    ) -> TypedCase<Root> {
        guard depth > 0 else { return leaf(&self, 0) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            let (left, right) = (tree(depth - 1, leaf), tree(depth - 1, leaf))
            return TypedCase(text: "(\(left.text) \(use("&&")) \(right.text))") {
                left.condition($0) && right.condition($0)
            } holds: {
                left.holds($0) && right.holds($0)
            }
        case 2, 3:
            let (left, right) = (tree(depth - 1, leaf), tree(depth - 1, leaf))
            return TypedCase(text: "(\(left.text) \(use("||")) \(right.text))") {
                left.condition($0) || right.condition($0)
            } holds: {
                left.holds($0) || right.holds($0)
            }
        case 4:
            let inner = tree(depth - 1, leaf)
            return TypedCase(text: "\(use("!"))(\(inner.text))") {
                !inner.condition($0)
            } holds: {
                !inner.holds($0)
            }
        default: return leaf(&self, depth - 1)
        }
    }

    /// One comparison of a keeper's columns; the place is one of several.
    private mutating func leaf<Root>(
        _ place: TypedPlace<Root, Keeper>,
        _ depth: Int,
        among places: [TypedPlace<Root, Keeper>]
    ) -> TypedCase<Root> {
        let other = random.pick(places)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: return numbers(integer(place, depth), integer(other, 0))
        case 2, 3: return fractions(place, other)
        case 4: return texts(text(place), text(other))
        case 5: return singles(place, other)
        case 6: return moments(place, other)
        case 7: return array(place)
        case 8: return document(place, other)
        case 9: return objects(place, other)
        default: return members(place, depth)
        }
    }
}
