// Tests of a host behind ssh. The server is the test's own, on loopback, with its own keys, and ends with the test.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeMeasure

@Suite(.serialized, .onThreads) struct SecureShellTests {
    static let programs: (server: String, keygen: String)? = {
        let server = Subprocess.find("sshd") ?? ["/usr/sbin/sshd"].first { access($0, X_OK) == 0 }
        guard let server, let keygen = Subprocess.find("ssh-keygen"), Subprocess.find("ssh") != nil else { return nil }
        // As root, sshd requires a user and a folder that only its package creates.
        let tried = try? Subprocess.run(server, ["-t", "-f", "/dev/null", "-h", "/dev/null"])
        let words = String(decoding: tried?.errors ?? Data(), as: UTF8.self)
        return words.contains("rivilege separation") ? nil : (server, keygen)
    }()

    /// Starts a server on loopback, and returns it with the words that connect to it.
    private func server(_ folder: Folder) throws -> (process: Subprocess, words: [String]) {
        let server = try SecureShellServer(folder, at: "127.0.0.1", port: try freePort())
        let process = try Subprocess(
            server.command[0], Array(server.command.dropFirst()), output: .discarded,
            errors: .file("\(folder.path)/sshd.log"))
        while !folder.read("sshd.log").contains("Server listening") {
            process.advance(untilNs: MonotonicClock.nowNs() + 10_000_000) { _, _ in }
            try #require(process.exit == nil, "\(folder.read("sshd.log"))")
        }
        return (process, server.client)
    }

    private func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                bind(descriptor, general, length) == 0 && getsockname(descriptor, general, &length) == 0
            }
        }
        try #require(bound)
        return UInt16(bigEndian: address.sin_port)
    }

    private let scenario = Data(
        """
        purpose: Does a host behind ssh write as one here does?
        represents: itself
        drivers: [stillingwell]
        durability: relaxed
        dataset: { items: 600 }
        observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
        writers: { hosts: 2, load: open, rate: 400/s, arrivals: uniform }
        measure: [end_to_end_latency, write_service_time, clock_uncertainty, missed_final]
        gate: end_to_end_latency
        warm_up: 0s
        duration: 500ms
        """.utf8)

    @Test(.enabled(if: programs != nil, "no sshd here that this user can start")) func aHostBehindIt() throws {
        let folder = try Folder()
        let (process, words) = try server(folder)
        defer { process.kill() }
        try folder.write("two.yaml", scenario)
        let list = words.joined(separator: ", ")
        try folder.write(
            "hosts.yaml", Data("a: { run: [] }\nb: { run: [\(list)], binary: \(Binary.tidegauge.path) }\n".utf8))
        let ran = try Binary.tidegauge.run(
            ["run", "two.yaml", "--profile", "smoke", "--hosts", "hosts.yaml"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)\n\(folder.read("sshd.log"))")
        let rows = folder.metrics().filter { $0["metric"] == "write_service_time" && $0["statistic"] == "count" }
        #expect(rows.first?["value"] == "200")
        let journal = folder.read("Reports/latest/journal.ndjson")
        // The host has the same kernel and clock.
        #expect(journal.contains("\"isSame\":true") && !journal.contains("\"isSame\":false"))
    }

    @Test(.enabled(if: programs != nil, "no sshd here that this user can start")) func aServerThatIsNotThere() throws {
        let folder = try Folder()
        let (process, words) = try server(folder)
        process.kill()
        try folder.write("two.yaml", scenario)
        let list = words.joined(separator: ", ")
        try folder.write(
            "hosts.yaml", Data("a: { run: [] }\nb: { run: [\(list)], binary: \(Binary.tidegauge.path) }\n".utf8))
        let ran = try Binary.tidegauge.run(
            ["run", "two.yaml", "--profile", "smoke", "--hosts", "hosts.yaml"], in: folder)
        #expect(ran.status == 70)
        let journal = folder.read("Reports/latest/journal.ndjson")
        #expect(
            journal.contains("'b': its agent has ended (exit status 255)") && journal.contains("Connection refused"))
    }
}

/// An ssh server at an address that accepts the key in a folder: its command, and the client's words.
struct SecureShellServer {
    let command: [String]
    let client: [String]

    init(_ folder: Folder, at address: String, port: UInt16) throws {
        let programs = try #require(SecureShellTests.programs)
        for name in ["host", "user"] {
            let made = try Subprocess.run(
                programs.keygen, ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder.path)/\(name)"])
            #expect(made.isSuccess)
        }
        let options = [
            "Port=\(port)", "ListenAddress=\(address)", "HostKey=\(folder.path)/host", "PidFile=none", "UsePAM=no",
            "StrictModes=no", "AuthorizedKeysFile=\(folder.path)/user.pub", "PasswordAuthentication=no",
            "PermitRootLogin=prohibit-password",
        ]
        command = [programs.server, "-D", "-e", "-f", "/dev/null"] + options.flatMap { ["-o", $0] }
        let own = [
            "BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR",
            "IdentitiesOnly=yes",
        ]
        client =
            ["ssh", "-T", "-F", "none", "-p", "\(port)", "-i", "\(folder.path)/user"]
            + own.flatMap { ["-o", $0] } + [address]
    }
}
