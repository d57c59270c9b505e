import Foundation
import Testing

@testable import TidegaugeMeasure

@Suite("Environment and fate")
struct EnvironmentTests {
    @Test("A captured report answers every question and survives JSON")
    func capture() throws {
        var report = EnvironmentReport.capture(storeDirectories: ["/proc", "/no/such/folder"])
        #expect(report.pressureAfter == nil)
        report.finish()
        #expect(report.pressureAfter != nil)
        #expect(report.cores >= 1 && report.memoryBytes > 0 && report.loadAverage.count == 3)
        #expect(report.kernel.first?.isNumber == true && report.compiler.hasPrefix("Swift 6"))
        #expect(report.storeFileSystems == ["/proc": "proc", "/no/such/folder": "unknown"])
        #expect(report.bootID.count == 36)
        let json = try report.json()
        #expect(try JSONDecoder().decode(EnvironmentReport.self, from: json) == report)
        let keys = String(decoding: json, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("  \"") }.map { $0.prefix { $0 != ":" } }
        #expect(keys == keys.sorted() && keys.count > 15)
    }

    @Test("Outside a repository there is no commit, and that is no error")
    func noRepository() {
        #expect(GitRevision.read(in: "/proc") == nil)
        #expect(EnvironmentReport.capture(storeDirectories: [], repository: "/proc").commit == "unknown")
    }

    @Test("The innermost mount decides, and of two at one place the later")
    func mounts() {
        let mountInfo = """
            21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            22 21 0:20 / /data rw shared:2 - xfs /dev/sdb rw
            23 22 0:21 / /data/fast rw - tmpfs tmpfs rw
            24 22 0:22 / /data/with\\040blank rw - btrfs /dev/sdc rw
            25 22 0:23 / /data/fast rw - overlay overlay rw
            broken line
            """
        func name(_ path: String) -> String { FileSystem.name(of: path, mountInfo: mountInfo) }
        #expect(name("/") == "ext4")
        #expect(name("/database") == "ext4")
        #expect(name("/data/x") == "xfs")
        #expect(name("/data/fast") == "overlay")
        #expect(name("/data/with blank/y") == "btrfs")
        #expect(FileSystem.name(of: "/data", mountInfo: "") == "unknown")
    }

    @Test("Fields of cpuinfo are found by name")
    func cpuinfo() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags\t\t: fpu hypervisor\n"
        #expect(MachineFacts.cpuField("model name", in: text) == "Some CPU @ 2.0GHz")
        #expect(MachineFacts.cpuField("CPU part", in: text) == nil)
    }

    @Test(
        "Every fate has its number and its flag in the report",
        arguments: [
            (TrialFate.completed, 0, nil), (.crashed(signal: "SIGSEGV"), 1, "crashed:SIGSEGV"),
            (.killed(signal: "SIGKILL"), 2, "killed:SIGKILL"), (.hang, 3, "hang"),
            (.oracleViolation, 4, "oracle_violation"), (.harnessFault(reason: "no disk"), 5, "harness_fault:no disk"),
            (.interrupted, 6, "interrupted"),
        ] as [(TrialFate, Int, String?)])
    func fates(fate: TrialFate, code: Int, flag: String?) throws {
        #expect(fate.code == code && fate.flag?.text == flag)
        #expect(fate.figure.metric == .trialOutcome && fate.figure.value == Double(code))
        #expect(fate.figure.flags.map(\.text) == (flag.map { [$0] } ?? []))
        #expect(try JSONDecoder().decode(TrialFate.self, from: JSONEncoder().encode(fate)) == fate)
    }
}
