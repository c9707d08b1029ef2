import Kindred
import TestSupport
import TypeModels

extension OperatorWriter {
    /// Conditions on the members of a keeper's relationships, and of theirs.
    mutating func members<Root>(_ place: TypedPlace<Root, Keeper>, _ depth: Int) -> TypedCase<Root> {
        let pets = place.members("pets", { $0.pets }, { $0.pets.loaded })
        let clubs = place.members("clubs", { $0.clubs }, { $0.clubs.loaded })
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return members(pets, depth) { $0.petCase($1) }
        case 2, 3: return members(clubs, depth) { $0.clubCase($1) }
        case 4:
            return members(clubs.then(use("members.toMany"), { $0.members }, { $0.members.loaded }), depth) {
                $0.keeperCase($1)
            }
        case 5:
            let bosses = clubs.then("members", { $0.members }, { $0.members.loaded })
                .then(use("members.toOne?"), { $0.boss }, { $0.boss.loaded.map { [$0] } ?? [] })
            return members(bosses, depth) { $0.keeperCase($1) }
        case 6:
            let home = clubs.then("members", { $0.members }, { $0.members.loaded })
                .then(use("members.toOne"), { $0.club }, { $0.club.loaded.map { [$0] } ?? [] })
            return members(home, depth) { $0.clubCase($1) }
        default:
            let pet = random.pick(world.pets)
            let club = random.pick(world.clubs)
            return Bool.random(using: &random)
                ? place.case("pets.\(use("contains object"))(\(pet))", { $0.pets.contains(pet) }) {
                    $0?.pets.loaded.contains(pet) ?? false
                }
                : place.case("clubs.\(use("contains object"))(\(club))", { $0.clubs.contains(club) }) {
                    $0?.clubs.loaded.contains(club) ?? false
                }
        }
    }

    /// A condition on members.
    mutating func members<Root, Member>(
        _ members: TypedMembers<Root, Member>,
        _ depth: Int,
        _ inner: (inout OperatorWriter, Int) -> TypedCase<Member>
    ) -> TypedCase<Root> {
        func result(
            _ name: String,
            _ condition: @escaping (MemberColumns<Member>) -> Condition,
            _ holds: @escaping ([Member]) -> Bool
        ) -> TypedCase<Root> {
            TypedCase(text: "\(members.text).\(name)") {
                condition(members.columns($0))
            } holds: {
                holds(members.objects($0) ?? [])
            }
        }
        let kind = Int.random(in: 0..<4, using: &random)
        if kind == 0 { return result(use("isEmpty"), { $0.isEmpty }, { $0.isEmpty }) }
        let test = inner(&self, max(depth - 1, 0))
        switch kind {
        case 1:
            return result("\(use("contains where")) { \(test.text) }", { $0.contains(test.condition) }) {
                $0.contains(where: test.holds)
            }
        case 2:
            return result("\(use("allSatisfy")) { \(test.text) }", { $0.allSatisfy(test.condition) }) {
                $0.allSatisfy(test.holds)
            }
        default:
            return result("\(use("none")) { \(test.text) }", { $0.none(test.condition) }) {
                !$0.contains(where: test.holds)
            }
        }
    }

    /// The number of members, or of some of them.
    mutating func count<Root, Member>(
        of members: TypedMembers<Root, Member>,
        _ depth: Int,
        _ inner: (inout OperatorWriter, Int) -> TypedCase<Member>
    ) -> TypedTerm<Root, Int> {
        guard Bool.random(using: &random) else { return count(of: members, depth) }
        let test = inner(&self, max(depth - 1, 0))
        return TypedTerm(text: "\(members.text).\(use("count where")) { \(test.text) }") {
            members.columns($0).count(test.condition)
        } value: {
            members.objects($0).map { $0.filter(test.holds).count }
        }
    }

    mutating func count<Root, Member>(of members: TypedMembers<Root, Member>, _ depth: Int) -> TypedTerm<Root, Int> {
        TypedTerm(text: "\(members.text).\(use("count"))") {
            members.columns($0).count
        } value: {
            members.objects($0)?.count
        }
    }
}
