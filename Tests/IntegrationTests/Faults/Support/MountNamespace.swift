import Foundation
import Subprocess

/// File systems that only some processes of a test see.
enum MountNamespace {
    /// Whether this process may make them: containers mostly refuse it, even to root.
    static var isAllowed: Bool {
        get async {
            guard getuid() == 0 else { return false }
            let script = "mount -t tmpfs small /tmp && mount --bind /etc/hosts /etc/resolv.conf"
            let result = try? await Subprocess.run(
                .name("unshare"), arguments: ["-m", "sh", "-c", script], input: .none, output: .discarded,
                error: .discarded)
            return result?.terminationStatus.isSuccess == true
        }
    }

    /// A wrapper of a process that sees these files in `/etc` instead of its own.
    ///
    /// - Parameter folder: where they are written.
    static func seeing(_ files: [String: String], in folder: String) throws -> [String] {
        for (name, text) in files { try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8) }
        let mount = files.keys.map { "mount --bind \(folder)/\($0) /etc/\($0) || exit 1" }.joined(separator: "\n")
        return ["unshare", "-m", "sh", "-c", mount + "\nexec \"$@\"", "sh"]
    }
}
