// `Codable`, for JSON or Foundation's predicates: each value as its PostgreSQL text.

extension LosslessStringConvertible where Self: Decodable {
    fileprivate init(textFrom decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a valid \(Self.self)")
        }
        self = value
    }
}

extension LosslessStringConvertible where Self: Encodable {
    fileprivate func encodeText(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension PostgresNumeric: Codable {
    /// Reads PostgreSQL's text for the value, or a number: one of JSON exactly.
    ///
    /// Where a decoder drops digits and does not tell them, a number of more than 37 is refused: it is exact only as a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The text is a decoder's usual answer; only JSON has numbers.
        if let text = try? container.decode(String.self) {
            guard let value = Self(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a valid \(Self.self)")
            }
            self = value
            return
        }
        let tree = try ClientJSON(from: decoder).tree
        guard !tree.mayLackDigits else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "A number of so many digits is exact only as a text: give it in quotes")
        }
        switch tree {
        case .integer(let value): self.init(value)
        case .decimal(let value): self.init(value)
        case .double(let value): self.init(value)
        case .number(let text):
            guard let value = Self(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "Out of range for numeric")
            }
            self = value
        case let other:
            throw DecodingError.typeMismatch(
                Self.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "A number, or a text with one, is wanted, and not \(other.kindName)"))
        }
    }

    /// Writes PostgreSQL's text for the value.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension PostgresDate: Codable {
    /// Reads PostgreSQL's text for the value.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes PostgreSQL's text for the value.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension PostgresTime: Codable {
    /// Reads PostgreSQL's text for the value.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes PostgreSQL's text for the value.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension PostgresTimeTZ: Codable {
    /// Reads PostgreSQL's text for the value.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes PostgreSQL's text for the value.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension PostgresTimestamp: Codable {
    /// Reads PostgreSQL's text for the value.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes PostgreSQL's text for the value.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension PostgresInterval: Codable {
    /// Reads PostgreSQL's text for the value.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes PostgreSQL's text for the value.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}
