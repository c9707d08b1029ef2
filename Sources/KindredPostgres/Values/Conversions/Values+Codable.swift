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
        try self.init(numberIn: container)
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
