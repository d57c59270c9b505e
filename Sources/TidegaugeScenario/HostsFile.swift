// Reads the hosts file of `--hosts`: the hosts and the command that reaches each.
import Foundation
import TidegaugeSpec

public struct HostsFile {
    private static let keys = ["run", "binary", "server", "address"]
    private static let example = "b: { run: [ssh, -T, b.example] }"

    private var problems: ProblemList
    /// Address of the server that is started beside the trial.
    private var address: String?

    /// Returns the hosts of a file in order, without those that have a server.
    /// - Throws: the problems of the file.
    public static func read(path: String) throws(ScenarioErrors) -> [HostEntry] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ScenarioErrors([
                ScenarioProblem(.path(path), "cannot be read; name a hosts file, such as '\(example)'")
            ])
        }
        return try read(Array(data), path: path)
    }

    static func read(_ bytes: [UInt8], path: String) throws(ScenarioErrors) -> [HostEntry] {
        var reader = HostsFile(problems: ProblemList(path: path))
        var hosts: [HostEntry] = []
        if bytes.allSatisfy({ $0 <= 0x20 }) {
            reader.problems.add(.start, "the file names no host; write '\(example)'")
        } else if let text = YAMLText(bytes, into: &reader.problems),
            let root = YAMLTree.read(text, into: &reader.problems)
        {
            hosts = reader.hosts(root)
        }
        try reader.problems.check()
        return hosts
    }

    private mutating func hosts(_ root: YAMLNode) -> [HostEntry] {
        guard case .mapping(let entries) = root.content else {
            problems.add(
                root.position, "expects a host's name with its command, '\(Self.example)', found \(root.description)")
            return []
        }
        var hosts = entries.compactMap { host($0) }
        for index in hosts.indices { hosts[index].serverAddress = address }
        if hosts.isEmpty, problems.isEmpty {
            problems.add(
                root.position,
                "the only host has the server, and writers need another one; write '\(Self.example)'")
        }
        return hosts
    }

    /// Returns nil for a host that has a server, or if an entry is not a host.
    private mutating func host(_ entry: YAMLNode.Entry) -> HostEntry? {
        let name = entry.key
        let isName = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        guard isName, !name.isEmpty else {
            problems.add(
                entry.position,
                "a host's name is made of letters, digits, '-', '_' and '.', found '\(Quantity.clipped(name))'")
            return nil
        }
        guard case .mapping(let keys) = entry.value.content else {
            problems.add(
                entry.value.position,
                "host '\(name)' expects '{ run: [COMMAND, …] }', found \(entry.value.description)")
            return nil
        }
        for key in keys where !Self.keys.contains(key.key) {
            problems.add(
                key.position,
                "unknown key '\(Quantity.clipped(key.key))' \(Nearest.hint(for: key.key, among: Self.keys))")
        }
        guard let run = keys.first(where: { $0.key == "run" }) else {
            problems.add(
                entry.position,
                "host '\(name)' has no 'run', the words that precede the command of an agent ('run: []': this machine)")
            return nil
        }
        var host = HostEntry(name: name, run: words(run))
        if let binary = keys.first(where: { $0.key == "binary" }) { host.binary = path(binary) }
        let address = keys.first { $0.key == "address" }
        guard let server = keys.first(where: { $0.key == "server" }), flag(server) else {
            if let address {
                problems.add(
                    address.position,
                    "'address' is the address of the trial's server: it requires 'server: true'")
            }
            return host
        }
        if let address { self.address = networkName(address) }
        if !host.run.isEmpty {
            problems.add(
                server.position,
                "the trial's server is started on this machine ('run: []'); for an existing server use --set "
                    + "server.url=")
        }
        return nil
    }

    private mutating func words(_ entry: YAMLNode.Entry) -> [String] {
        guard case .sequence(let nodes) = entry.value.content else {
            problems.add(
                entry.value.position,
                "'run' expects a list of words such as [ssh, -T, b.example], found \(entry.value.description)")
            return []
        }
        return nodes.compactMap { node in
            if case .scalar(let word, _) = node.content, !word.isEmpty { return word }
            problems.add(node.position, "'run' expects words, found \(node.description)")
            return nil
        }
    }

    private mutating func path(_ entry: YAMLNode.Entry) -> String? {
        if case .scalar(let path, _) = entry.value.content, path.hasPrefix("/") { return path }
        problems.add(
            entry.value.position,
            "'binary' expects an absolute path on the host, such as /opt/tidegauge, found \(entry.value.description)")
        return nil
    }

    /// Address at which the hosts reach the server. A comma would separate several addresses.
    private mutating func networkName(_ entry: YAMLNode.Entry) -> String? {
        if case .scalar(let name, _) = entry.value.content, !name.isEmpty,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-.:".contains($0)) })
        {
            return name
        }
        problems.add(
            entry.value.position,
            "'address' expects one name or address of this machine that the hosts reach, such as 10.0.0.1, found "
                + entry.value.description)
        return nil
    }

    private mutating func flag(_ entry: YAMLNode.Entry) -> Bool {
        if case .scalar(let word, isPlain: true) = entry.value.content, ["true", "false"].contains(word) {
            return word == "true"
        }
        problems.add(entry.value.position, "'server' is true or false, found \(entry.value.description)")
        return false
    }
}
