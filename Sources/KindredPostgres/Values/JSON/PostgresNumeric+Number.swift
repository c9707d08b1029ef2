#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PostgresNumeric {
    /// Reads the number of a decoder.
    ///
    /// `Decoder` gives numbers as Swift's types only, which hold at most 38 digits, and no zeros at the end. But a
    /// decoder of JSON names the text of a number that does not fit a type in its error. The text is taken from there,
    /// and only if it is the number that was decoded; with other decoders the number is Swift's value.
    init(numberIn container: any SingleValueDecodingContainer) throws {
        if let text = Self.numberText(in: container) {
            guard let value = Self(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "Out of range for numeric")
            }
            self = value
        } else if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(Decimal.self), value.isFinite, value.significand < Self.longest {
            self.init(value)
        } else {
            _ = try container.decode(Double.self)
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "A number of so many digits is exact only as a text: give it in quotes")
        }
    }

    /// The least number of 38 digits: a decoder may have dropped further digits behind them.
    private static let longest = Decimal(sign: .plus, exponent: 37, significand: 1)

    /// The text of a number, where the decoder tells it.
    private static func numberText(in container: any SingleValueDecodingContainer) -> String? {
        let double = try? container.decode(Double.self)
        do {
            // Small whole numbers fit; their text is not told.
            _ = try container.decode(Int8.self)
            // A number that is too small for a `Double` is no zero.
            if double == nil { _ = try container.decode(Double.self) }
            return nil
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            // No number; the numbers in the text belong to its path.
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            let cause = context.underlyingError.map { " \($0)" } ?? ""
            return (context.debugDescription + cause).number(of: double)
        } catch {
            return "\(error)".number(of: double)
        }
    }
}

extension String {
    /// The part that is a number of JSON with this value, nil being a number that no `Double` holds.
    fileprivate func number(of value: Double?) -> String? {
        let parts = split { !"0123456789+-.eE".contains($0) }
        let found = parts.first { part in
            // `Double` reads more than JSON has.
            guard part.first?.isNumber == true || part.first == "-", let read = Double(part) else { return false }
            return value.map { $0 == read } ?? (read.isInfinite || read == 0)
        }
        return found.map(String.init)
    }
}
