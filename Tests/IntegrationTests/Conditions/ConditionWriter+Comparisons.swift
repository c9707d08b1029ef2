import Foundation
import Kindred
import TestSupport

extension ConditionWriter {
    mutating func search(_ whole: RandomCondition.Term<String>, path: Bool) -> RandomCondition {
        let isInsensitive = Bool.random(using: &random)
        let option = isInsensitive ? "[c]" : ""
        func folded(_ text: String) -> String { isInsensitive ? text.lowercased() : text }
        let part = pick(["a", "A", "%", "_", "\\", "b", "", "ann", "*", "Zo", "ë", "\n"])
        func result(
            _ operation: String,
            _ argument: String,
            _ holds: @escaping (String) -> Bool
        ) -> RandomCondition {
            RandomCondition(
                format: "\(whole.format) \(operation)\(option) %@",
                arguments: whole.arguments + [argument]
            ) { whole.value($0).map(holds) ?? false }
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return result("BEGINSWITH", part) { folded($0).startsWithBytes(of: folded(part)) }
        case 1:
            return result("ENDSWITH", part) { folded($0).endsWithBytes(of: folded(part)) }
        case 2: return result("CONTAINS", part) { folded($0).containsBytes(of: folded(part)) }
        case 3:
            let pattern = pick(["a*", "*b", "?nn", "*", "???", "a?b", #"A\*\?"#, #"a\\*"#, "*\n*", "a%b", ""])
            return result("LIKE", pattern) { folded($0).isLike(folded(pattern)) }
        case 4:
            let other = text()
            return RandomCondition(
                format: "\(whole.format) CONTAINS\(option) \(other.format)",
                arguments: whole.arguments + other.arguments
            ) { person in
                guard let whole = whole.value(person), let part = other.value(person) else { return false }
                return folded(whole).containsBytes(of: folded(part))
            }
        default:
            let value = pick(Zoo.names)
            return RandomCondition(
                format: "\(whole.format) ==\(option) %@",
                arguments: whole.arguments + [value]
            ) { whole.value($0).map(folded) == folded(value) }
        }
    }

    mutating func numberIn(_ element: RandomCondition.Term<Int>) -> RandomCondition {
        let values = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
            Int.random(in: 0..<5, using: &random) == 0 ? nil : Int.random(in: -2...6, using: &random)
        }
        if Bool.random(using: &random) {
            let list = values.map { $0.map(String.init) ?? "NULL" }.joined(separator: ", ")
            return RandomCondition(format: "\(element.format) IN {\(list)}", arguments: element.arguments) {
                values.contains(element.value($0))
            }
        }
        return RandomCondition(format: "\(element.format) IN %@", arguments: element.arguments + [values]) {
            values.contains(element.value($0))
        }
    }

    mutating func textIn(_ element: RandomCondition.Term<String>) -> RandomCondition {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let values = (0..<Int.random(in: 0..<4, using: &random)).map { _ in pick(Zoo.names + [nil]) }
            return RandomCondition(format: "\(element.format) IN %@", arguments: element.arguments + [values]) {
                values.contains(element.value($0))
            }
        case 1:
            let value = pick(Zoo.names)
            return RandomCondition(format: pick(["%@ IN tags", "ANY tags == %@"]), arguments: [value]) {
                $0.tags?.contains(value) ?? false
            }
        default:
            let value = pick(Zoo.names)
            return RandomCondition(format: "%@ IN petSet.name", arguments: [value]) {
                $0.pets.contains { $0.name == value }
            }
        }
    }

    mutating func between() -> RandomCondition {
        let (value, lower, upper) = (number(), number(), number())
        return RandomCondition(
            format: "\(value.format) BETWEEN {\(lower.format), \(upper.format)}",
            arguments: value.arguments + lower.arguments + upper.arguments
        ) { person in
            guard let value = value.value(person), let lower = lower.value(person), let upper = upper.value(person)
            else { return false }
            return lower <= value && value <= upper
        }
    }

    mutating func enumOrBool() -> RandomCondition {
        let mood = pick(Zoo.moods)
        let isTrue = Bool.random(using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return RandomCondition(format: "mood != %@", arguments: [mood]) { $0.mood != mood }
        case 1:
            return RandomCondition(format: "mood IN {'sad', %@}", arguments: [mood]) {
                $0.mood == "sad" || $0.mood == mood
            }
        case 2: return RandomCondition(format: "mood CONTAINS 'a'") { $0.mood?.contains("a") ?? false }
        case 3: return RandomCondition(format: "active == \(isTrue ? "YES" : "FALSE")") { $0.active == isTrue }
        default:
            let half = Double(Int.random(in: -3...6, using: &random)) / 2
            return RandomCondition(format: "(score >= %@ OR age < %f)", arguments: [half, half]) {
                ($0.score.map { $0 >= half } ?? false) || ($0.age.map { Double($0) < half } ?? false)
            }
        }
    }

    mutating func missing() -> RandomCondition {
        let isMissing = Bool.random(using: &random)
        let end = isMissing ? "== nil" : "!= NULL"
        func result(_ path: String, _ value: @escaping (Person) -> Bool) -> RandomCondition {
            RandomCondition(format: "\(path) \(end)") { value($0) == isMissing }
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return result("name") { $0.name == nil }
        case 1: return result("boss") { $0.boss == nil }
        case 2: return result("boss.boss") { $0.boss?.boss == nil }
        case 3: return result("house") { $0.house == nil }
        case 4: return result("boss.house") { $0.boss?.house == nil }
        case 5: return result("badge") { $0.badge == nil }
        case 6: return result("badge.label") { $0.badge.flatMap { $0 } == nil }
        default: return result("tags") { $0.tags == nil }
        }
    }
}
