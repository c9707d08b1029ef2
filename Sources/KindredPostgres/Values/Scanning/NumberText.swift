/// Floating-point numbers as the server prints them.
enum NumberText {
    /// A decimal number within the type's range; Swift would parse other numbers as 0 or infinity.
    static func number<T: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String) -> T? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: break
        }
        let isNumber = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        guard isNumber, let value = T(text), value.isFinite else { return nil }
        guard value == 0 else { return value }
        let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        return digits.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) } ? nil : value
    }

    /// A floating-point number as the server prints it, except for when exponents are used.
    static func text(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "Infinity" : "-Infinity" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
