// Finds and parses scenarios by path or name.

/// Scenarios on disk and those embedded in the program.
public struct ScenarioLibrary {
    private let drivers: [String]
    private let search: ScenarioSearch
    private let trace: (name: String, bytes: [UInt8])?

    /// - Parameters:
    ///   - drivers: driver names that scenarios may use.
    ///   - shipped: texts of embedded files by their path, such as `Scenarios/latency/commit-latency.yaml`. Files on
    ///     disk take precedence.
    ///   - trace: replacement for all traces that scenarios name.
    public init(drivers: [String], shipped: [String: String] = [:], trace: (name: String, bytes: [UInt8])? = nil) {
        (self.drivers, self.trace) = (drivers, trace)
        search = ScenarioSearch(shipped: shipped)
    }

    /// Parses scenarios. A path is a file or a folder, of which every `*.yaml` below is read in path order, following
    /// links to folders. Anything else is the path of embedded scenarios, or the name of a scenario or folder in
    /// `Scenarios` or among these.
    /// - Returns: scenarios in the order of `paths`, each file once.
    /// - Throws: the problems of the paths, then those of the files, then those of their names.
    public func load(_ paths: [String]) throws(ScenarioErrors) -> [Scenario] {
        var problems: [ScenarioProblem] = []
        var scenarios: [Scenario] = []
        var around = search.namedFiles
        around.trace = trace
        for file in search.files(paths, into: &problems) {
            do throws(ScenarioErrors) {
                let bytes = try search.contents(of: file)
                scenarios.append(try Scenario.parse(bytes, path: file, drivers: drivers, files: around))
            } catch {
                problems += error.problems
            }
        }
        // Spreadsheet programs interpret such a name as a formula.
        for scenario in scenarios where scenario.name.first.map({ "=+-@".contains($0) }) ?? true {
            problems.append(
                ScenarioProblem(
                    .path(scenario.path),
                    "a scenario's name begins with a letter or a digit, for tables; rename the file"))
        }
        // Reports identify a scenario by its stem.
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

    /// Sorted names of all scenarios that can be loaded by name.
    public var names: [String] { search.names }
}
