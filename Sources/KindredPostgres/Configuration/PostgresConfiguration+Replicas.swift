extension PostgresConfiguration {
    /// The servers of a list of hosts, each with the options of all.
    package var servers: [PostgresConfiguration] {
        endpoints.map { endpoint in
            var server = self
            server.endpoints = [endpoint]
            server.targetSession = .any
            return server
        }
    }

    /// Whether the client writes to one of several servers.
    var choosesPrimary: Bool { endpoints.count > 1 && (targetSession == .primary || targetSession == .readWrite) }

    /// Whether the program wants no server that takes writes, or has made its sessions read-only.
    var isReadOnly: Bool {
        switch targetSession {
        case .readOnly, .standby, .preferStandby: return true
        case .any, .readWrite, .primary: break
        }
        let name = "default_transaction_read_only"
        return settings.keys.contains { $0.foldedName == name } || options?.lowercased().contains(name) == true
    }

    /// The configuration of a pool for the primary, whichever of the servers that is.
    ///
    /// - Parameter others: servers that may have the role later; they are tried with this configuration's role and options.
    package func ofPrimary(among others: [PostgresConfiguration]) -> PostgresConfiguration {
        var primary = self
        for endpoint in others.flatMap(\.endpoints) where !primary.endpoints.contains(endpoint) {
            primary.endpoints.append(endpoint)
        }
        if primary.endpoints.count > 1, targetSession != .readWrite { primary.targetSession = .primary }
        return primary
    }

    /// The configuration for reads from a replica: if it has no free connection, another server answers soon.
    var forReads: PostgresConfiguration {
        var reads = self
        reads.pool.acquireTimeout = min(reads.pool.acquireTimeout, .milliseconds(100))
        // Each statement behind a guard needs a snapshot of its own; a replica has no serializable transactions.
        reads.settings = reads.settings.filter { $0.key.foldedName != "default_transaction_isolation" }
        reads.settings["default_transaction_isolation"] = "read committed"
        return reads
    }

    /// The configuration for samples.
    var forSamples: PostgresConfiguration {
        var samples = self
        samples.connectTimeout = min(samples.connectTimeout, .seconds(2))
        (samples.pool.minimumConnections, samples.pool.maximumConnections) = (0, 1)
        samples.pool.acquireTimeout = .seconds(2)
        samples.cancellationGrace = .zero
        return samples
    }
}
