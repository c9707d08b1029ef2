import Foundation
import Kindred
import TypeModels

/// A condition on keepers in its three forms, and in SQL for the row `t`.
struct ScopeCase {
    let closure: (Columns<Keeper>) throws -> Condition
    let format: String?
    let predicate: Predicate<Keeper>?
    let sql: String

    private static func pets(_ condition: String) -> String {
        "EXISTS (SELECT FROM pet p WHERE p.keeper_id = t.id AND \(condition))"
    }

    static var all: [ScopeCase] {
        var cases: [ScopeCase] = []
        func add(
            closure: @escaping (Columns<Keeper>) throws -> Condition, format: String? = nil,
            predicate: Predicate<Keeper>? = nil, sql: String
        ) {
            cases.append(ScopeCase(closure: closure, format: format, predicate: predicate, sql: sql))
        }
        add(
            closure: { keeper in keeper.pets.contains { $0.weight == keeper.age } },
            format: "SUBQUERY(petSet, $p, $p.weight == age).@count > 0",
            predicate: #Predicate { keeper in keeper.pets.loaded.contains { $0.weight == keeper.age } },
            sql: pets("p.weight IS NOT DISTINCT FROM t.age"))
        add(
            closure: { keeper in keeper.pets.contains { $0.weight < keeper.age } },
            format: "SUBQUERY(petSet, $p, SELF.age > $p.weight).@count != 0",
            sql: pets("p.weight < t.age"))
        add(
            closure: { keeper in !keeper.pets.contains { !($0.weight < keeper.age) } },
            format: "NOT SUBQUERY(petSet, $p, NOT $p.weight < age).@count > 0",
            sql: "NOT " + pets("(p.weight < t.age) IS NOT TRUE"))
        add(
            closure: { keeper in keeper.pets.allSatisfy { $0.weight != keeper.age } },
            format: "SUBQUERY(petSet, $p, $p.weight != age).@count == petSet.@count",
            predicate: #Predicate { keeper in keeper.pets.loaded.allSatisfy { $0.weight != keeper.age } },
            sql: "NOT " + pets("p.weight IS NOT DISTINCT FROM t.age"))
        add(
            closure: { keeper in keeper.pets.none { $0.name == keeper.name } },
            format: "SUBQUERY(petSet, $p, name == $p.name).@count == 0",
            predicate: #Predicate { keeper in
                keeper.pets.loaded.filter { $0.name == keeper.name }.count == 0
            },
            sql: "NOT " + pets("p.name IS NOT DISTINCT FROM t.name"))
        // Two levels, over one table twice.
        add(
            closure: { keeper in
                keeper.keepers.contains { other in
                    other.pets.contains { $0.weight == keeper.age && $0.name != other.name }
                }
            },
            format: """
                SUBQUERY(keeperSet, $k, SUBQUERY($k.petSet, $p, $p.weight == age AND $p.name != $k.name).@count > 0).@count > 0
                """,
            predicate: #Predicate { keeper in
                keeper.keepers.loaded.contains { other in
                    other.pets.loaded.contains { $0.weight == keeper.age && $0.name != other.name }
                }
            },
            sql: """
                EXISTS (SELECT FROM keeper k JOIN pet p ON p.keeper_id = k.id WHERE k.boss_id = t.id
                AND p.weight IS NOT DISTINCT FROM t.age AND p.name IS DISTINCT FROM k.name)
                """)
        // Members of the outer object within.
        add(
            closure: { keeper in keeper.pets.contains { pet in keeper.clubs.contains { $0.name == pet.name } } },
            format: "SUBQUERY(petSet, $p, SUBQUERY(clubs, $c, $c.name == $p.name).@count > 0).@count > 0",
            predicate: #Predicate { keeper in
                keeper.pets.loaded.contains { pet in keeper.clubs.loaded.contains { $0.name == pet.name } }
            },
            sql: pets(
                """
                EXISTS (SELECT FROM membership m JOIN club c ON c.id = m.club_id WHERE m.keeper_id = t.id
                AND c.name IS NOT DISTINCT FROM p.name)
                """))
        // A path over a to-one end of the outer object, which may be missing.
        add(
            closure: { keeper in keeper.pets.contains { $0.name == keeper.boss.name } },
            format: "SUBQUERY(petSet, $p, $p.name == boss.name).@count > 0",
            sql: pets("p.name IS NOT DISTINCT FROM (SELECT b.name FROM keeper b WHERE b.id = t.boss_id)"))
        add(
            closure: { keeper in keeper.pets.contains { $0.weight < keeper.boss.club.id + keeper.rank } },
            format: "SUBQUERY(petSet, $p, $p.weight < boss.club.id + rank).@count > 0",
            sql: pets("p.weight < (SELECT b.club_id FROM keeper b WHERE b.id = t.boss_id) + t.rank"))
        // Objects of two scopes.
        add(
            closure: { keeper in keeper.keepers.contains { $0.club == keeper.club && $0 != keeper } },
            format: "SUBQUERY(keeperSet, $k, $k.club == club AND $k != SELF).@count > 0",
            sql: "EXISTS (SELECT FROM keeper k WHERE k.boss_id = t.id AND k.club_id = t.club_id AND k.id <> t.id)")
        add(
            closure: { keeper in keeper.club.members.contains { $0.boss == keeper.boss && $0.age > keeper.age } },
            format: "SUBQUERY(club.members, $k, $k.boss == boss AND $k.age > age).@count > 0",
            sql: """
                EXISTS (SELECT FROM membership m JOIN keeper k ON k.id = m.keeper_id WHERE m.club_id = t.club_id
                AND k.boss_id IS NOT DISTINCT FROM t.boss_id AND k.age > t.age)
                """)
        add(
            closure: { keeper in keeper.clubs.contains { $0 == keeper.club } },
            format: "SUBQUERY(clubs, $c, $c == club).@count > 0",
            sql: "EXISTS (SELECT FROM membership m WHERE m.keeper_id = t.id AND m.club_id = t.club_id)")
        // Counts, outside and within.
        add(
            closure: { keeper in keeper.pets.count { $0.weight == keeper.age } > keeper.rank },
            format: "SUBQUERY(petSet, $p, $p.weight == age).@count > rank",
            predicate: #Predicate { keeper in
                keeper.pets.loaded.filter { $0.weight == keeper.age }.count > keeper.rank
            },
            sql: """
                (SELECT count(*) FROM pet p WHERE p.keeper_id = t.id AND p.weight IS NOT DISTINCT FROM t.age) > t.rank
                """)
        add(
            closure: { keeper in
                keeper.keepers.contains { other in other.pets.count { $0.name != keeper.name } > keeper.pets.count }
            },
            format: """
                SUBQUERY(keeperSet, $k, SUBQUERY($k.petSet, $p, $p.name != name).@count > petSet.@count).@count > 0
                """,
            sql: """
                EXISTS (SELECT FROM keeper k WHERE k.boss_id = t.id
                AND (SELECT count(*) FROM pet p WHERE p.keeper_id = k.id AND p.name IS DISTINCT FROM t.name)
                    > (SELECT count(*) FROM pet p WHERE p.keeper_id = t.id))
                """)
        // Calculations and members behind members.
        add(
            closure: { keeper in keeper.clubs.members.contains { $0.rank + keeper.size > $0.size * keeper.rank + 3 } },
            sql: """
                EXISTS (SELECT FROM membership m JOIN membership n ON n.club_id = m.club_id JOIN keeper k ON k.id = n.keeper_id
                WHERE m.keeper_id = t.id AND k.rank + t.size > k.size * t.rank + 3)
                """)
        add(
            closure: { keeper in keeper.clubs.members.boss.contains { $0.age == keeper.rank && $0.id != keeper.id } },
            sql: """
                EXISTS (SELECT FROM membership m JOIN membership n ON n.club_id = m.club_id JOIN keeper k ON k.id = n.keeper_id
                JOIN keeper b ON b.id = k.boss_id WHERE m.keeper_id = t.id AND b.age = t.rank AND b.id <> t.id)
                """)
        // A closure that names the outer object alone, and a closure whose members are the outer object's.
        add(
            closure: { keeper in keeper.pets.contains { _ in !keeper.visible } },
            format: "SUBQUERY(petSet, $p, visible == NO).@count > 0",
            sql: pets("NOT t.visible"))
        add(
            closure: { keeper in keeper.pets.contains { pet in keeper.pets.count { $0.weight == pet.weight } > 1 } },
            format: "SUBQUERY(petSet, $p, SUBQUERY(petSet, $q, $q.weight == $p.weight).@count > 1).@count > 0",
            sql: pets(
                """
                (SELECT count(*) FROM pet q WHERE q.keeper_id = t.id AND q.weight IS NOT DISTINCT FROM p.weight) > 1
                """))
        // A predicate is a condition on the innermost object.
        add(
            closure: { keeper in
                try keeper.pets.contains { pet in
                    try Condition(#Predicate<Pet> { $0.weight == 2 }) && pet.name != keeper.name
                }
            },
            format: "SUBQUERY(petSet, $p, $p.%K == 2 AND $p.%K != %K).@count > 0",
            sql: pets("p.weight = 2 AND p.name IS DISTINCT FROM t.name"))
        return cases
    }
}
