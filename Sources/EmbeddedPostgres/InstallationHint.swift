#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The command that installs a server on this system, as the beginning of a sentence.
@Sendable
func installationHint() -> String {
    #if os(macOS)
        return "Install one with `brew install postgresql@18`"
    #else
        let commands = [
            "debian": "apt-get install postgresql", "ubuntu": "apt-get install postgresql",
            "fedora": "dnf install postgresql-server", "rhel": "dnf install postgresql-server",
            "amzn": "dnf install postgresql15-server", "alpine": "apk add postgresql",
            "arch": "pacman -S postgresql", "suse": "zypper install postgresql-server",
        ]
        let file = (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
        // ID is this system, ID_LIKE those it descends from.
        for key in ["ID=", "ID_LIKE="] {
            let value = file.split(whereSeparator: \.isNewline).first { $0.hasPrefix(key) }?.dropFirst(key.count) ?? ""
            for name in value.split(whereSeparator: { " \"'".contains($0) }) {
                if let command = commands[String(name)] { return "Install one with `\(command)`" }
            }
        }
        return "Install the package of the PostgreSQL server"
    #endif
}
