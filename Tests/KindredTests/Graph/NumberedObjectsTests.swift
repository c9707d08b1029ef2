import Testing

@testable import Kindred

/// Objects are found by their numbers, also where these do not ascend.
@Suite struct NumberedObjectsTests {
    private final class Object {}

    @Test(arguments: [1, 2, 3]) func findsObjectsAsADictionaryWould(seed: UInt64) {
        var random = Generator(state: seed)
        var (objects, expected): (NumberedObjects<Object>, [Int64: Object]) = (NumberedObjects(), [:])
        var last: Int64 = 0
        for _ in 0..<5_000 {
            // Mostly behind the last one; phases of many and of few objects.
            let isGrowing = last / 500 % 2 == 0
            if random.next(4) > 0 { last += Int64(random.next(3)) }
            let number = random.next(5) == 0 ? Int64(random.next(Int(last) + 1)) : last
            if random.next(3) > (isGrowing ? 0 : 1) {
                let object = Object()
                objects[number] = object
                expected[number] = object
            } else {
                let known = random.next(2) == 0 ? number : expected.keys.min() ?? number
                objects[known] = nil
                expected[known] = nil
            }
            #expect(objects[number] === expected[number])
            #expect(objects.isEmpty == expected.isEmpty)
        }
        #expect(Set(objects.objects.map { ObjectIdentifier($0) }) == Set(expected.values.map { ObjectIdentifier($0) }))
        #expect(objects.objects.count == expected.count)
        for (number, object) in expected {
            #expect(objects[number] === object)
            objects[number] = nil
        }
        #expect(objects.isEmpty && objects.objects.isEmpty)
    }
}
