#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Checks files that libpq would ignore silently, or reject at each attempt.
extension PostgresConfiguration {
    /// The revocation list; libpq silently ignores a list that it cannot use.
    func checkedRevocationList(root: String?) throws -> String? {
        guard let file = tls.revocationList else { return nil }
        guard let root, root != "system" else {
            throw PostgresError(
                .invalidConfiguration,
                """
                libpq looks at a list of revoked certificates only together with a file of trusted authorities: set \
                tls.rootCertificate (sslrootcert) to that file
                """)
        }
        let mark = Data("-----BEGIN X509 CRL-----".utf8)
        guard let text = try? Data(contentsOf: URL(fileURLWithPath: file)), text.firstRange(of: mark) != nil else {
            throw PostgresError(
                .invalidConfiguration,
                "The certificate revocation list (sslcrl) cannot be read, or is not in PEM form")
        }
        return file
    }

    /// The client's certificate; libpq sends none if it cannot read the file.
    func checkedCertificate() throws -> String? {
        guard let file = tls.certificate else { return nil }
        guard SystemCalls.canRead(file) else {
            throw PostgresError(
                .invalidConfiguration,
                "The client's certificate (sslcert) cannot be read; check the file's name and owner")
        }
        return file
    }

    /// The client's private key, which only its owner may read.
    ///
    /// As in libpq, root's key may be readable by its group.
    func checkedKey() throws -> String? {
        // A name with a colon refers to a hardware key.
        guard let file = tls.key, !file.contains(":") else { return tls.key }
        guard let info = SystemCalls.status(of: file), info.st_mode & S_IFMT == S_IFREG, SystemCalls.canRead(file)
        else {
            throw PostgresError(
                .invalidConfiguration,
                "The client's private key (sslkey) cannot be read; check the file's name and owner")
        }
        let others = info.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO
        guard info.st_mode & others == 0 else {
            throw PostgresError(
                .invalidConfiguration,
                "The client's private key (sslkey) is accessible to other users; use chmod 600")
        }
        return file
    }
}
