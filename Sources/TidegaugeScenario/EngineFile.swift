// Reads the file of an engine that runs in a process of its own: how it is started.
import Foundation
import TidegaugeSpec

public struct EngineFile: Sendable, Equatable {
    /// Name in place of the engine's own; nil: its own.
    public private(set) var name: String?
    /// A command of the shell.
    public private(set) var command = ""
    public private(set) var environment: [String: String] = [:]
    /// Folder that the command is started in.
    public private(set) var folder: String

    private static let keys = ["name", "command", "env", "cwd"]
    private static let example = "command: node engine.mjs"

    /// - Throws: the problems of the file.
    public static func read(path: String) throws(ScenarioErrors) -> EngineFile {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ScenarioErrors([ScenarioProblem(.path(path), "cannot be read; write a file with '\(example)'")])
        }
        return try read(Array(data), path: path)
    }

    static func read(_ bytes: [UInt8], path: String) throws(ScenarioErrors) -> EngineFile {
        var problems = ProblemList(path: path)
        let parent = path.contains("/") ? (path as NSString).deletingLastPathComponent : "."
        var file = EngineFile(folder: parent.isEmpty ? "/" : parent)
        if bytes.allSatisfy({ $0 <= 0x20 }) {
            problems.add(.start, "the file names no engine; say '\(example)'")
        } else if let text = YAMLText(bytes, into: &problems), let root = YAMLTree.read(text, into: &problems) {
            file.read(root, &problems)
        }
        try problems.check()
        return file
    }

    private init(folder: String) { self.folder = folder }

    private mutating func read(_ root: YAMLNode, _ problems: inout ProblemList) {
        guard case .mapping(let entries) = root.content else {
            problems.add(root.position, "expects '\(Self.example)', found \(root.description)")
            return
        }
        for entry in entries {
            switch entry.key {
            case "name": name = Self.text(entry, &problems)
            case "command": command = Self.text(entry, &problems) ?? ""
            case "cwd":
                guard let cwd = Self.text(entry, &problems) else { continue }
                folder = cwd.hasPrefix("/") ? cwd : "\(folder)/\(cwd)"
            case "env":
                guard case .mapping(let variables) = entry.value.content else {
                    problems.add(
                        entry.value.position, "'env' expects '{ NAME: value }', found \(entry.value.description)")
                    continue
                }
                for variable in variables {
                    environment[variable.key] = Self.text(variable, mayBeEmpty: true, &problems)
                }
            default:
                problems.add(
                    entry.position,
                    "unknown key '\(Quantity.clipped(entry.key))' \(Nearest.hint(for: entry.key, among: Self.keys))")
            }
        }
        if !entries.contains(where: { $0.key == "command" }) {
            problems.add(root.position, "the file has no 'command'; say '\(Self.example)'")
        }
    }

    private static func text(
        _ entry: YAMLNode.Entry, mayBeEmpty: Bool = false, _ problems: inout ProblemList
    ) -> String? {
        if case .scalar(let text, _) = entry.value.content, mayBeEmpty || !text.isEmpty { return text }
        problems.add(
            entry.value.position, "'\(Quantity.clipped(entry.key))' expects a text, found \(entry.value.description)")
        return nil
    }
}
