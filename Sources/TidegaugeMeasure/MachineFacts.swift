// Facts about the build, the machine and the working tree.
import Foundation

enum BuildFacts {
    /// The compiler only offers comparisons of its version; running `swift --version` would take a second.
    static var compiler: String {
        #if compiler(>=6.4)
            "Swift 6.4 or later"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #elseif compiler(>=6.2)
            "Swift 6.2"
        #else
            "Swift 6.1"
        #endif
    }

    static var configuration: String {
        #if DEBUG
            let optimisation = "debug"
        #else
            let optimisation = "release"
        #endif
        #if HAVE_JEMALLOC
            return optimisation
        #else
            return optimisation + "+sanitizer"
        #endif
    }
}

enum MachineFacts {
    static func cpuModel() -> String {
        let text = ProcFile.text("/proc/cpuinfo") ?? ""
        return cpuField("model name", in: text) ?? cpuField("CPU part", in: text).map { "part \($0)" } ?? "unknown"
    }

    static func cpuField(_ name: String, in cpuinfo: String) -> String? {
        guard let line = cpuinfo.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let colon = line.firstIndex(of: ":")
        else { return nil }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return value.isEmpty ? nil : value
    }

    /// Number of cores by affinity, as restricted by `taskset` or a cpuset.
    static func usableCores() -> Int { ProcessInfo.processInfo.activeProcessorCount }

    static func kernel() -> String { systemName(\.release) }

    static func architecture() -> String { systemName(\.machine) }

    private static func systemName<Characters>(_ field: KeyPath<utsname, Characters>) -> String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        // A C array of characters, imported as a tuple.
        return withUnsafeBytes(of: name[keyPath: field]) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    static func virtualisation() -> String {
        let flags = cpuField("flags", in: ProcFile.text("/proc/cpuinfo") ?? "") ?? ""
        var hints: [String] = []
        if flags.split(separator: " ").contains("hypervisor") {
            let names = ["sys_vendor", "product_name"].compactMap { ProcFile.word("/sys/class/dmi/id/\($0)") }
            hints.append((["hypervisor"] + names).joined(separator: " "))
        }
        let files = FileManager.default
        if files.fileExists(atPath: "/.dockerenv") || files.fileExists(atPath: "/run/.containerenv") {
            hints.append("container")
        }
        return hints.isEmpty ? "none" : hints.joined(separator: ", ")
    }

    static func loadAverage() -> [Double] {
        (ProcFile.text("/proc/loadavg") ?? "").split(separator: " ").prefix(3).compactMap { Double($0) }
    }
}

/// Name shared by machines that can use one calibration: the same processor, number of cores, architecture and kernel
/// version up to the first hyphen.
public enum MachineKey {
    public static var current: String {
        let facts = [
            MachineFacts.cpuModel(), "\(MachineFacts.usableCores())-cores", MachineFacts.architecture(),
            String(MachineFacts.kernel().prefix { $0 != "-" }),
        ]
        let words = facts.joined(separator: "-").lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" }
        return String(words).split(separator: "-").joined(separator: "-")
    }
}

/// Commit of a working tree.
enum GitRevision {
    /// Runs `git`; returns `nil` if it fails.
    static func read(in folder: String) -> (commit: String, dirty: Bool)? {
        guard let head = git(["rev-parse", "HEAD"], in: folder),
            let status = git(["status", "--porcelain"], in: folder)
        else { return nil }
        return (head.trimmingCharacters(in: .whitespacesAndNewlines), !status.isEmpty)
    }

    private static func git(_ arguments: [String], in folder: String) -> String? {
        guard let ran = try? Subprocess.run("/usr/bin/env", ["git", "-C", folder] + arguments), ran.isSuccess else {
            return nil
        }
        return String(decoding: ran.output, as: UTF8.self)
    }
}
