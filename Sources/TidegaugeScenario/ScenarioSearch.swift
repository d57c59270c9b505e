// Finds and reads scenario files.
import Foundation
import StillingWellBasis

struct ScenarioSearch {
    /// Folder of scenarios that are found by name.
    private static let standard = "Scenarios"

    /// Embedded texts by path.
    let shipped: [String: String]
    /// Lists a folder; nil if it cannot be listed.
    var list: (_ folder: String) -> [String]? = { try? FileManager.default.contentsOfDirectory(atPath: $0) }

    // MARK: Paths

    /// Returns the files that `paths` name, each once.
    func files(_ paths: [String], into problems: inout [ScenarioProblem]) -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        func add(_ path: String) {
            if seen.insert(Self.real(path)).inserted { files.append(path) }
        }
        for path in paths {
            if let isFolder = Self.isFolder(path) {
                let (found, closed) = isFolder ? scenarios(below: path) : ([path], [])
                problems += closed.map {
                    ScenarioProblem(.path($0), "the folder cannot be listed; check its permissions")
                }
                if found.isEmpty, closed.isEmpty {
                    problems.append(ScenarioProblem(.path(path), "there is no *.yaml in this folder or below"))
                }
                found.forEach(add)
            } else {
                let found = shipped(below: path) ?? named(path)
                if found.isEmpty {
                    problems.append(ScenarioProblem(.path(path), "there is no such file or folder" + hint(for: path)))
                }
                found.forEach(add)
            }
        }
        return files
    }

    /// Returns nil if nothing exists at the path.
    private static func isFolder(_ path: String) -> Bool? {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) ? isFolder.boolValue : nil
    }

    private static func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    /// Returns every `*.yaml` below a folder in path order, following links to folders. Each folder is visited once,
    /// by its own name rather than by a link, so that cyclic links end.
    /// - Returns: the files, and the folders that cannot be listed.
    private func scenarios(below root: String) -> (found: [String], closed: [String]) {
        var found: [String] = []
        var closed: [String] = []
        var seen: Set<String> = []
        var folders = [root.hasSuffix("/") && root.count > 1 ? String(root.dropLast()) : root]
        var links: [String] = []
        while let folder = folders.popLast() ?? links.popLast() {
            guard seen.insert(Self.real(folder)).inserted else { continue }
            guard let names = list(folder) else {
                closed.append(folder)
                continue
            }
            for name in names {
                let path = "\(folder)/\(name)"
                if Self.isFolder(path) != true {
                    if name.hasSuffix(".yaml") { found.append(path) }
                } else if (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil {
                    links.append(path)
                } else {
                    folders.append(path)
                }
            }
            links.sort(by: >)
        }
        return (found.sorted(), closed.sorted())
    }

    // MARK: Names

    /// Returns embedded scenarios at or below a path, or nil if there are none.
    private func shipped(below path: String) -> [String]? {
        let folder = path.hasSuffix("/") ? path : path + "/"
        let found = shippedScenarios.filter { $0 == path || $0.hasPrefix(folder) }
        return found.isEmpty ? nil : found
    }

    private var shippedScenarios: [String] { shipped.keys.filter { $0.hasSuffix(".yaml") }.sorted() }

    /// Returns files in the standard folder, else embedded ones, with this stem or in a folder of this name.
    private func named(_ name: String) -> [String] {
        guard !name.contains("/"), !name.isEmpty else { return [] }
        let places = [
            Self.isFolder(Self.standard) == true ? scenarios(below: Self.standard).found : [], shippedScenarios,
        ]
        for paths in places {
            let files = paths.filter { ScenarioReader.stem(of: $0) == name }
            if !files.isEmpty { return files }
            let inside = paths.filter { $0.split(separator: "/").dropLast().dropFirst().contains(Substring(name)) }
            if !inside.isEmpty { return inside }
        }
        return []
    }

    /// Names of all scenarios that can be loaded by name, sorted.
    var names: [String] {
        let onDisk = Self.isFolder(Self.standard) == true ? scenarios(below: Self.standard).found : []
        return Set((onDisk + shippedScenarios).map { ScenarioReader.stem(of: $0) }).sorted()
    }

    /// Returns a hint with a similar file beside a missing one, or with similar scenario names.
    private func hint(for path: String) -> String {
        let url = URL(fileURLWithPath: path)
        let folder = path.contains("/") ? url.deletingLastPathComponent().path : "."
        let beside = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if let near = Nearest.nearest(to: url.lastPathComponent, among: beside.sorted()) {
            return " (did you mean '\(near)'?)"
        }
        if path.contains("/") { return "" }
        return ", and no scenario of that name" + Nearest.several(to: ScenarioReader.stem(of: path), among: names)
    }

    // MARK: Contents of files

    /// Reads a file from disk or from the embedded ones. Reads one byte too many, so that the caller can detect a file
    /// that is too long.
    func contents(
        of path: String, atMost maximumBytes: Int = YAMLText.maximumBytes,
        _ kind: String = "a scenario is a *.yaml file"
    ) throws(ScenarioErrors) -> [UInt8] {
        func refusal(_ message: String) -> ScenarioErrors { ScenarioErrors([ScenarioProblem(.path(path), message)]) }
        if Self.isFolder(path) == nil, let text = shipped[path] { return Array(text.utf8) }
        let attributes = try? FileManager.default.attributesOfItem(atPath: Self.real(path))
        // Reading from a pipe or a device could block forever.
        guard attributes?[.type] as? FileAttributeType == .typeRegular else {
            throw refusal("this is no regular file; \(kind)")
        }
        guard let handle = FileHandle(closedOnExec: path, O_RDONLY) else {
            throw refusal("the file cannot be opened; check its permissions")
        }
        defer { try? handle.close() }
        do {
            return [UInt8](try handle.read(upToCount: maximumBytes + 1) ?? Data())
        } catch {
            throw refusal("the file cannot be read: \(error.localizedDescription)")
        }
    }

    /// Access to files that these scenarios may name.
    var namedFiles: NamedFiles {
        NamedFiles(
            beside: { name, path in
                // A trace is beside the scenario's real file, not beside a link to it.
                let source = Self.isFolder(path) == nil ? path : Self.real(path)
                let file = Self.path(of: name, beside: source)
                guard Self.isFolder(file) != nil || shipped[file] != nil else { return .missing }
                do throws(ScenarioErrors) {
                    return .found(try contents(of: file, atMost: Trace.maximumBytes, "a trace is a text file"))
                } catch {
                    return .unreadable(error.problems.map(\.message).joined(separator: "; "))
                }
            },
            extended: { name, path in
                let near = Self.path(of: name, beside: path)
                let candidates = [near, near + ".yaml"].filter { Self.isFolder($0) == false || shipped[$0] != nil }
                guard let file = candidates.first ?? named(name).first else {
                    return .missing(hint: Nearest.several(to: ScenarioReader.stem(of: name), among: names))
                }
                do throws(ScenarioErrors) {
                    return .found(path: file, bytes: try contents(of: file))
                } catch {
                    return .unreadable(path: file, error.problems.map(\.message).joined(separator: "; "))
                }
            })
    }

    /// Resolves a name relative to a file, without `x/..` where the name leads back up. An absolute name is returned as
    /// it is.
    private static func path(of name: String, beside file: String) -> String {
        if name.hasPrefix("/") { return name }
        var parts: [Substring] = file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        for part in name.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, !["", ".", ".."].contains(last) {
                parts.removeLast()
            } else {
                parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }
}
