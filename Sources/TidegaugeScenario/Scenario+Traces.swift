// Traces of a scenario. Each is read from the folder of the file that names it, unless another trace replaces all of
// them, and is part of the scenario's hash.
import StillingWellBasis
import TidegaugeSpec

extension Scenario {
    /// Returns the path of a trace named in a file.
    private func beside(_ name: String, _ source: String) -> String {
        source.lastIndex(of: "/").map { source[...$0] + name } ?? name
    }

    /// Reads all traces that the scenario names, each once.
    mutating func readTraces(_ bytes: [UInt8], _ files: NamedFiles, into problems: inout ProblemList) {
        let layers = [base.given] + profiles.keys.sorted { $0.rawValue < $1.rawValue }.map { profiles[$0]!.values }
        let sweeps = [sweep] + profiles.values.map(\.sweep)
        let swept = sweeps.compactMap { $0 }.flatMap(\.products).flatMap(\.axes)
            .filter { $0.setting == .trace }.flatMap(\.values)
        var hashed = bytes
        for given in layers.compactMap({ $0[.trace] }) + swept {
            guard case .file(let name) = given.value, traces[name] == nil else { continue }
            // The trace is beside the file that names it, which may be an extended one.
            let source = if case .file(let path, _, _) = given.place { path } else { path }
            traces[name] = Trace()
            let contents: [UInt8]
            switch files.trace.map({ .found($0.bytes) }) ?? files.beside(name, source) {
            case .found(let bytes): contents = bytes
            case .missing:
                problems.add(
                    given.place, "'writers.trace' names '\(name)', and there is no such file beside the scenario")
                continue
            case .unreadable(let why):
                problems.add(given.place, "'writers.trace' names '\(name)' beside the scenario: \(why)")
                continue
            }
            hashed += contents
            do throws(ValueFault) {
                traces[name] = try Trace(contents)
            } catch {
                // The problem is reported for the trace, not for the scenario.
                problems.add(
                    .path(files.trace?.name ?? beside(name, source)),
                    "the trace \(error.message) (\(path) follows it)")
            }
        }
        if hashed.count > bytes.count { sha256 = SHA256.hexadecimal(hashed) }
    }
}
