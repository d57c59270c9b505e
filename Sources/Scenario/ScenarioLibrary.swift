// The one place of this module that reads files: paths → scenarios. Called by one thread at a time.
import Foundation

public enum ScenarioLibrary {
    /// Reads scenario files. A path is a file or a folder, of which every `*.yaml` below it is read, in path order.
    /// - Parameter drivers: the names that a scenario's `drivers` may hold.
    /// - Returns: the scenarios in the order of `paths`, each file once.
    /// - Throws: all problems of all files, in that order; the valid ones among them are not returned.
    public static func load(paths: [String], drivers: [String]) throws(ScenarioErrors) -> [Scenario] {
        var problems: [ScenarioProblem] = []
        var scenarios: [Scenario] = []
        for file in files(paths, into: &problems) {
            do throws(ScenarioErrors) {
                let folder = URL(fileURLWithPath: file).resolvingSymlinksInPath().deletingLastPathComponent()
                scenarios.append(
                    try Scenario.parse(try contents(of: file), path: file, drivers: drivers) { name in
                        try? contents(of: folder.appendingPathComponent(name).path, atMost: Trace.maximumBytes)
                    })
            } catch {
                problems += error.problems
            }
        }
        // Reports name a scenario by its stem alone.
        for (name, group) in Dictionary(grouping: scenarios, by: \.name).sorted(by: { $0.key < $1.key })
        where group.count > 1 {
            for other in group.dropFirst() {
                problems.append(
                    ScenarioProblem(
                        .path(other.path), "a second scenario named '\(name)', after \(group[0].path); rename one"))
            }
        }
        if !problems.isEmpty { throw ScenarioErrors(problems) }
        return scenarios
    }

    /// The files that `paths` name, each once.
    private static func files(_ paths: [String], into problems: inout [ScenarioProblem]) -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        func add(_ path: String) {
            let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            if seen.insert(real).inserted { files.append(path) }
        }
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                problems.append(ScenarioProblem(.path(path), "there is no such file or folder" + hint(for: path)))
                continue
            }
            guard isFolder.boolValue else {
                add(path)
                continue
            }
            let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
            let below = (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? [])
            let scenarios = below.filter { $0.hasSuffix(".yaml") }.sorted()
            if scenarios.isEmpty {
                problems.append(ScenarioProblem(.path(path), "there is no *.yaml in this folder or below"))
            }
            for scenario in scenarios { add("\(folder)/\(scenario)") }
        }
        return files
    }

    /// A file of nearly the same name beside the missing one.
    private static func hint(for path: String) -> String {
        let url = URL(fileURLWithPath: path)
        let folder = path.contains("/") ? url.deletingLastPathComponent().path : "."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let near = Nearest.nearest(to: url.lastPathComponent, among: names.sorted())
        return near.map { " (did you mean '\($0)'?)" } ?? ""
    }

    /// A regular file's bytes; one byte more than it may have is enough to refuse it.
    private static func contents(
        of path: String, atMost maximumBytes: Int = YAMLText.maximumBytes
    ) throws(ScenarioErrors) -> [UInt8] {
        func refusal(_ message: String) -> ScenarioErrors { ScenarioErrors([ScenarioProblem(.path(path), message)]) }
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        // A pipe or a device would be waited on for ever.
        guard attributes?[.type] as? FileAttributeType == .typeRegular else {
            throw refusal("this is no regular file; a scenario is a *.yaml file")
        }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw refusal("the file cannot be opened; check its permissions")
        }
        defer { try? handle.close() }
        do {
            return [UInt8](try handle.read(upToCount: maximumBytes + 1) ?? Data())
        } catch {
            throw refusal("the file cannot be read: \(error.localizedDescription)")
        }
    }
}
