// A trace: due times of commits as somebody recorded them, one per line, in seconds from the start of the warm-up. A line
// that starts with `#` is a comment. Pure.

enum Trace {
    static let maximumBytes = 1 << 24
    private static let maximumCommits = 1_000_000

    /// The due times of a file, in ns, ascending.
    /// - Throws: the first line that is none, as half a sentence that follows the file's name.
    static func dueTimesNs(_ bytes: [UInt8]) throws(ValueFault) -> [Int64] {
        guard bytes.count <= maximumBytes else { throw ValueFault("is longer than \(maximumBytes) bytes") }
        var times: [Int64] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            var text = String(decoding: line, as: UTF8.self)
            if text.hasSuffix("\r") { text.removeLast() }
            if text.isEmpty || text.hasPrefix("#") { continue }
            let place = "has in line \(index + 1)"
            let seconds: Double
            do throws(ValueFault) {
                seconds = try Quantity.number(text)
            } catch {
                throw ValueFault("\(place) '\(Quantity.clipped(text))', which is no number of seconds")
            }
            guard seconds >= 0, seconds <= 86_400 else {
                throw ValueFault("\(place) the time \(Quantity.clipped(text)), which is not within a day")
            }
            let timeNs = Int64((seconds * 1e9).rounded())
            guard timeNs >= times.last ?? 0 else {
                throw ValueFault("\(place) a time before the one above it (sort it)")
            }
            times.append(timeNs)
            guard times.count <= maximumCommits else { throw ValueFault("has more than \(maximumCommits) times") }
        }
        if times.isEmpty { throw ValueFault("holds no due time") }
        return times
    }
}

extension Scenario {
    /// Reads the traces that the scenario names anywhere, each once.
    mutating func readTraces(_ bytes: [UInt8], _ files: NamedFiles, into problems: inout ProblemList) {
        let layers = [base.given] + profiles.keys.sorted { $0.rawValue < $1.rawValue }.map { profiles[$0]!.values }
        let sweeps = [sweep] + profiles.values.map(\.sweep)
        let swept = sweeps.compactMap { $0 }.flatMap(\.products).flatMap(\.axes)
            .filter { $0.setting == .trace }.flatMap(\.values)
        var hashed = bytes
        for given in layers.compactMap({ $0[.trace] }) + swept {
            guard case .file(let name) = given.value, traces[name] == nil else { continue }
            // Beside the file that names it, which may be one that this one extends.
            let source = if case .file(let path, _, _) = given.place { path } else { path }
            guard let contents = files.beside(name, source) else {
                problems.add(
                    given.place, "'writers.trace' names '\(name)', and there is no such file beside the scenario")
                traces[name] = []
                continue
            }
            hashed += contents
            do throws(ValueFault) {
                traces[name] = try Trace.dueTimesNs(contents)
            } catch {
                problems.add(given.place, "'writers.trace': the file '\(name)' \(error.message)")
                traces[name] = []
            }
        }
        if hashed.count > bytes.count { sha256 = SHA256.hexadecimal(hashed) }
    }
}
