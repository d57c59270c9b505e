// Tests of hosts files: the hosts they contain, and the errors for invalid content, with their places.
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct HostsFileTests {
    private func read(_ text: String) throws -> [HostEntry] { try HostsFile.read(Array(text.utf8), path: "hosts.yaml") }

    private func refusal(_ text: String) -> String {
        (#expect(throws: ScenarioErrors.self) { try read(text) })?.description ?? ""
    }

    @Test func hostsComeInTheirOrderWithoutTheServer() throws {
        let hosts = try read(
            """
            # where we measure
            db: { run: [], server: true }
            b: { run: [ssh, -T, b.example], binary: /opt/tidegauge }
            a: { run: [] }
            c: { run: [], server: false }
            """)
        #expect(
            hosts == [
                HostEntry(name: "b", run: ["ssh", "-T", "b.example"], binary: "/opt/tidegauge"), HostEntry(name: "a"),
                HostEntry(name: "c"),
            ])
        #expect(hosts.map(\.isHere) == [false, true, true])
    }

    @Test func allHostsAreToldWhereTheServerIs() throws {
        let hosts = try read(
            "a: { run: [] }\ndb: { run: [], server: true, address: 10.0.0.1 }\nb: { run: [ssh, b] }")
        #expect(hosts.map(\.serverAddress) == ["10.0.0.1", "10.0.0.1"])
    }

    @Test(arguments: [
        (
            "a: { run: [], address: 10.0.0.1 }",
            "hosts.yaml:1:15: 'address' is the address of the trial's server: it requires 'server: true'"
        ),
        (
            "a: { run: [] }\ndb: { run: [], server: true, address: '*' }",
            "hosts.yaml:2:39: 'address' expects one name or address of this machine that the hosts reach, such as 10.0.0.1, found the text \"*\""
        ),
        ("", "hosts.yaml:1:1: the file names no host; write 'b: { run: [ssh, -T, b.example] }'"),
        (
            "- a",
            "hosts.yaml:1:1: expects a host's name with its command, 'b: { run: [ssh, -T, b.example] }', found a list"
        ),
        ("a: ssh", "hosts.yaml:1:4: host 'a' expects '{ run: [COMMAND, …] }', found 'ssh'"),
        (
            "a: { binary: /x }",
            "hosts.yaml:1:1: host 'a' has no 'run', the words that precede the command of an agent ('run: []': this machine)"
        ),
        ("a: { run: ssh }", "hosts.yaml:1:11: 'run' expects a list of words such as [ssh, -T, b.example], found 'ssh'"),
        ("a: { run: [ssh, [b]] }", "hosts.yaml:1:17: 'run' expects words, found a list"),
        (
            "a: { run: [], binary: tidegauge }",
            "hosts.yaml:1:23: 'binary' expects an absolute path on the host, such as /opt/tidegauge, found 'tidegauge'"
        ),
        ("a: { rnu: [], run: [] }", "hosts.yaml:1:6: unknown key 'rnu' (did you mean 'run'?)"),
        ("a: { run: [], server: yes }", "hosts.yaml:1:23: 'server' is true or false, found 'yes'"),
        (
            "a: { run: [ssh, b], server: true }",
            "hosts.yaml:1:21: the trial's server is started on this machine ('run: []'); for an existing server use --set server.url="
        ),
        (
            "db: { run: [], server: true }",
            "hosts.yaml:1:1: the only host has the server, and writers need another one; write 'b: { run: [ssh, -T, b.example] }'"
        ),
        ("a b: { run: [] }", "hosts.yaml:1:1: a host's name is made of letters, digits, '-', '_' and '.', found 'a b'"),
        ("a: { run: [] }\na: { run: [] }", "hosts.yaml:2:1: duplicate key 'a', given first at 1:1; keep one of them"),
    ])
    func whatIsWrongIsSaidWithItsPlace(_ text: String, _ words: String) { #expect(refusal(text) == words) }

    @Test func allIsSaidAtOnce() {
        let words = refusal("a: ssh\nb: { run: [1], binray: /x }\nc: {}")
        #expect(words.split(separator: "\n").count == 3, "\(words)")
    }
}
