// Tests of hosts that share only a link. The trial and any PostgreSQL server are in one network namespace, and host `b`
// is in another. A command starts the agent there. Links go down on a test's command.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeMeasure

@Suite(.serialized, .onThreads) struct NetworkTests {
    /// Words that start a program in its own network namespace. With a user namespace the user id remains the same,
    /// because a PostgreSQL server refuses to run as root.
    private static let apart =
        geteuid() == 0
        ? ["unshare", "--net"] : ["unshare", "--user", "--map-current-user", "--keep-caps", "--net"]

    /// Makes the link to `b` and runs a command. The network of `b` is held by a process that ends with this shell.
    private static let script = """
        set -e
        ip link set lo up
        setpriv --pdeathsig KILL unshare --net sleep 600 &
        holder=$!
        own=$(readlink /proc/self/ns/net)
        until there=$(readlink /proc/$holder/ns/net) && [ "$there" != "$own" ]; do sleep 0.01; done
        ip link add way type veth peer name way-b
        ip link set way-b netns $holder
        ip addr add 10.77.0.1/24 dev way
        ip link set way up
        nsenter -t $holder -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev way-b; ip link set way-b up'
        if [ -e sshd.sh ]; then
            setpriv --pdeathsig TERM nsenter -t $holder -n sh sshd.sh &
            until grep -q 'Server listening' sshd.log; do sleep 0.01; done
        fi
        if [ -e hosts.yaml ]; then sed -i "s/HOLDER/$holder/" hosts.yaml; fi
        status=0
        "$@" || status=$?
        kill $holder
        exit $status
        """

    /// The reason why tests with two networks cannot run here, or nil.
    private static let missingNetwork: String? = {
        guard Subprocess.find("ip") != nil else { return "no 'ip' here (of iproute2)" }
        guard FileManager.default.isExecutableFile(atPath: Binary.peers.path) else { return "no tidegauge-peers here" }
        let program = Subprocess.find("unshare") ?? "unshare"
        let words = Array(apart.dropFirst()) + ["sh", "-c", script, "network", "true"]
        let ran = try? Subprocess.run(program, words)
        return ran?.isSuccess == true ? nil : "no network namespaces here for this user"
    }()

    /// The reason why these tests cannot run with a PostgreSQL server, or nil.
    private static let missing: String? = {
        let places = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let isThere = Subprocess.find("postgres") != nil || !places.isEmpty
        return isThere ? missingNetwork : "no PostgreSQL server: `make servers` installs it"
    }()

    private func scenario(_ more: String = "") -> Data {
        Data(
            """
            purpose: Do two hosts write to one server?
            represents: itself
            drivers: [postgres-poll, postgres-notify, postgres-wal]
            durability: memory
            dataset: { items: 600 }
            observers: { count: 2, match: 0.5, sort: -score, deliver: run-loop, beside_writers: true }
            writers: { hosts: 2, threads: 2, load: open, rate: 200/s, arrivals: uniform }
            server: { transport: tcp }
            measure: [end_to_end_latency, write_service_time, clock_uncertainty, writer_cpu, missed_final]
            gate: end_to_end_latency
            warm_up: 0s
            \(more)
            """.utf8)
    }

    private func hosts(address: Bool = true, relay: String = "") -> Data {
        let way = relay.isEmpty ? "" : "\(Binary.fixture.path), relay, \(relay), --, "
        return Data(
            """
            db: { run: [], server: true\(address ? ", address: 10.77.0.1" : "") }
            a: { run: [] }
            b: { run: [\(way)\(Subprocess.find("nsenter") ?? "nsenter"), -t, HOLDER, -n], binary: \(Binary.peers.path) }
            """.utf8)
    }

    private func run(_ driver: String, in folder: Folder) throws -> Ran {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Subprocess.find(Self.apart[0]) ?? Self.apart[0])
        let words = ["run", "two.yaml", "--profile", "smoke", "--hosts", "hosts.yaml", "--driver", driver, "--no-wait"]
        process.arguments =
            Array(Self.apart.dropFirst()) + ["sh", "-c", Self.script, "network", Binary.peers.path] + words
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try folder.handle("stdout")
        process.standardError = try folder.handle("stderr")
        try process.run()
        process.waitUntilExit()
        return folder.ran(process)
    }

    /// The deliveries of all processes have one order of commits, which the oracle checks.
    @Test(
        .enabled(if: missing == nil, "\(missing ?? "")"),
        arguments: ["postgres-notify", "postgres-wal"])
    func twoHostsWriteAndObserveOverALink(_ driver: String) throws {
        let folder = try Folder()
        try folder.write("two.yaml", scenario("duration: 400ms"))
        try folder.write("hosts.yaml", hosts())
        let ran = try run(driver, in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let figures = folder.figures()
        #expect(figures["oracle_violations.value"]?["value"] == "0" && figures["missed_final.value"]?["value"] == "0")
        let trial = try folder.trial()
        let hosts = try #require(trial["hosts"] as? [[String: Any]])
        #expect(hosts.map { $0["name"] as? String } == ["a", "b"])
        let counts = try #require(trial["counts"] as? [String: Int])
        // A busy machine may make fewer than the 40 commits due per host. The others are counted as missed.
        let made = hosts.map { $0["commits"] as? Int ?? 0 }
        #expect(made.allSatisfy { $0 > 0 }, "\(made)")
        #expect(made.reduce(0, +) + (counts["missed_commits"] ?? 0) == 80, "\(made), \(counts)")
        // Two observers in this process and two on each host.
        #expect((counts["replayed_callbacks"] ?? 0) + (counts["row_samples"] ?? 0) > 6, "\(counts)")
        #expect((counts["server_cpu_ns.writer"] ?? 0) > 0, "\(counts)")
        #expect(Double(figures["end_to_end_latency.p50"]?["value"] ?? "") ?? -1 > 0)
        // The journal does not contain the password for the network.
        #expect(!folder.read("Reports/latest/journal.ndjson").contains("storeSecret"))
    }

    /// The run fails if a host cannot reach the server.
    @Test(.enabled(if: missing == nil, "\(missing ?? "")")) func aServerWithoutAnAddressIsRefused() throws {
        let folder = try Folder()
        try folder.write("two.yaml", scenario("duration: 400ms"))
        try folder.write("hosts.yaml", hosts(address: false))
        let ran = try run("postgres-notify", in: folder)
        #expect(ran.status == 70, "\(ran.errors)")
        let notes = try #require(try folder.trial()["notes"] as? [String]).joined(separator: "\n")
        #expect(
            notes.contains("'b': the trial's server is reached by this machine's loopback interface alone"), "\(notes)")
        #expect(notes.contains("server: true, address: 10.0.0.1"), "\(notes)")
    }

    /// The host's agent runs, but its commits do not return. The result names it and keeps earlier records.
    @Test(.enabled(if: missing == nil, "\(missing ?? "")")) func aLinkThatGoesDownIsARow() throws {
        let folder = try Folder()
        try folder.write("two.yaml", scenario("hang_timeout: 2s\nduration: 14s"))
        try folder.write(
            "hosts.yaml", hosts(relay: "--after-ms, \"500\", --then, run, --run, ip link set way down"))
        let ran = try run("postgres-notify", in: folder)
        #expect(ran.status == 3, "\(ran.errors)")
        let trial = try folder.trial()
        let notes = try #require(trial["notes"] as? [String]).joined(separator: "\n")
        #expect(notes.contains("'b': no commit returned for 2000 ms"), "\(notes)")
        #expect(notes.contains("ms after the start of the measured window; the other hosts were stopped"), "\(notes)")
        let hosts = try #require(trial["hosts"] as? [[String: Any]])
        #expect(hosts.map { ($0["loss"] as? String)?.contains("'b'") } == [nil, true], "\(hosts)")
        #expect(hosts.allSatisfy { ($0["commits"] as? Int ?? 0) > 0 }, "\(hosts)")
        let kept = (trial["counts"] as? [String: Int])?["measured_commits"] ?? 0
        #expect(kept > 0 && kept == hosts.reduce(0) { $0 + ($1["commits"] as? Int ?? 0) }, "\(kept), \(hosts)")
    }

    /// The connection to a host behind ssh becomes silent, and neither end is notified.
    @Test(
        .enabled(
            if: missingNetwork == nil && SecureShellTests.programs != nil,
            "no network namespaces, or no sshd here that this user can start"))
    func aLinkToAHostBehindSSHGoesDown() throws {
        let folder = try Folder()
        let server = try SecureShellServer(folder, at: "10.77.0.2", port: 2_222)
        try folder.write(
            "sshd.sh", Data("exec \(server.command.map { "'\($0)'" }.joined(separator: " ")) 2>sshd.log\n".utf8))
        try folder.write(
            "two.yaml",
            Data(
                """
                purpose: Do two hosts write?
                represents: itself
                drivers: [stillingwell]
                durability: memory
                dataset: { items: 600 }
                observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
                writers: { hosts: 2, load: open, rate: 200/s, arrivals: uniform }
                measure: [write_service_time, missed_final]
                gate: write_service_time
                warm_up: 0s
                hang_timeout: 1s
                duration: 14s
                """.utf8))
        let way = [
            "relay", "--after-ms", "\"500\"", "--then", "run", "--run", "ip link set way down", "--", "/usr/bin/env",
        ]
        let words = [Binary.fixture.path] + way + server.client.map { "\"\($0)\"" }
        try folder.write(
            "hosts.yaml",
            Data(
                "a: { run: [] }\nb: { run: [\(words.joined(separator: ", "))], binary: \(Binary.peers.path) }\n".utf8))
        let ran = try run("stillingwell", in: folder)
        #expect(ran.status == 70, "\(ran.errors)")
        let trial = try folder.trial()
        let notes = try #require(trial["notes"] as? [String]).joined(separator: "\n")
        #expect(notes.contains("'b': it has said nothing for 6000 ms"), "\(notes)\n\(folder.read("sshd.log"))")
        let hosts = try #require(trial["hosts"] as? [[String: Any]])
        #expect(hosts.map { ($0["loss"] as? String)?.contains("'b'") } == [nil, true], "\(hosts)")
        #expect((hosts[0]["commits"] as? Int ?? 0) > 0, "\(hosts)")
        #expect((trial["counts"] as? [String: Int])?["measured_commits"] == hosts[0]["commits"] as? Int, "\(trial)")
    }
}
