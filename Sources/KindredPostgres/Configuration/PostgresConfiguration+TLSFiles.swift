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

/// Files that libpq would ignore without a word, or refuse at each attempt.
extension PostgresConfiguration {
    /// The file of revoked certificates, which libpq would ignore without a word where it cannot be used.
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
                "The file of revoked certificates (sslcrl) cannot be read, or is no list in PEM form")
        }
        return file
    }

    /// The file of the client's certificate; without one that it can read, libpq would show the server none.
    func checkedCertificate() throws -> String? {
        guard let file = tls.certificate else { return nil }
        guard access(file, R_OK) == 0 else {
            throw PostgresError(
                .invalidConfiguration,
                "The client's certificate (sslcert) cannot be read: check the file's name and owner")
        }
        return file
    }

    /// The file of the client's private key, which nobody else may read.
    ///
    /// The rule is libpq's: a key of root's may be readable for its group.
    func checkedKey() throws -> String? {
        // A name with a colon is that of a key in hardware.
        guard let file = tls.key, !file.contains(":") else { return tls.key }
        var info = stat()
        guard stat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, access(file, R_OK) == 0 else {
            throw PostgresError(
                .invalidConfiguration,
                "The client's private key (sslkey) cannot be read: check the file's name and owner")
        }
        let others = info.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO
        guard info.st_mode & others == 0 else {
            throw PostgresError(
                .invalidConfiguration,
                "The client's private key (sslkey) may be read by others: take their rights away, chmod 600")
        }
        return file
    }
}
