// Paths and names → scenarios. Called by one thread at a time.

/// Scenarios on disk, and those that a program carries with it.
public struct ScenarioLibrary {
    private let drivers: [String]
    private let search: ScenarioSearch
    private let trace: (name: String, bytes: [UInt8])?

    /// - Parameters:
    ///   - drivers: the names that a scenario's `drivers` may hold.
    ///   - shipped: texts of files that are not on disk, by the path that they would have, such as
    ///     `Scenarios/latency/commit-latency.yaml`. A file on disk goes before one of these.
    ///   - trace: a file that stands in for all traces that scenarios name.
    public init(drivers: [String], shipped: [String: String] = [:], trace: (name: String, bytes: [UInt8])? = nil) {
        (self.drivers, self.trace) = (drivers, trace)
        search = ScenarioSearch(shipped: shipped)
    }

    /// Reads scenarios. A path is a file or a folder, of which every `*.yaml` below it is read, in path order; links to
    /// folders are followed. What is no path is the name of a scenario or of a folder of those in `Scenarios` or shipped.
    /// - Returns: the scenarios in the order of `paths`, each file once.
    /// - Throws: all problems of all files, in that order; the valid ones among them are not returned.
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
        // In a cell of a table a program would take such a name for a formula.
        for scenario in scenarios where scenario.name.first.map({ "=+-@".contains($0) }) ?? true {
            problems.append(
                ScenarioProblem(
                    .path(scenario.path),
                    "a scenario's name begins with a letter or a digit, for tables; rename the file"))
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

    /// The names of all scenarios that can be asked for by name, sorted.
    public var names: [String] { search.names }
}
