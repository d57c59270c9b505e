// What is wrong with a scenario, and where: the one form in which every refusal of this module is reported.
// Values only; nothing is shared.
import TidegaugeSpec

/// One thing wrong with a scenario file or with an option that changes it.
public struct ScenarioProblem: Sendable, Hashable, CustomStringConvertible {
    /// Where the trouble stands.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// A place inside a file, line and column from 1, columns in Unicode scalars.
        case file(path: String, line: Int, column: Int)
        /// A file or folder as such: missing, unreadable.
        case path(String)
        /// A command line option, such as `--set observers.count`.
        case option(String)

        public var description: String {
            switch self {
            case .file(let path, let line, let column): "\(path):\(line):\(column)"
            case .path(let path): path
            case .option(let name): name
            }
        }
    }

    public var place: Place
    /// What is wrong, ending in the remedy.
    public var message: String

    public init(_ place: Place, _ message: String) { (self.place, self.message) = (place, message) }

    /// `Scenarios/latency/commit-latency.yaml:14:9: unknown key 'obsrevers' (did you mean 'observers'?)`.
    public var description: String { "\(place): \(message)" }
}

/// Everything wrong with what was given, in file order; never empty when thrown. Exit code 65.
public struct ScenarioErrors: Error, Sendable, Hashable, CustomStringConvertible {
    public var problems: [ScenarioProblem]

    public init(_ problems: [ScenarioProblem]) { self.problems = problems }

    /// One problem per line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects the problems of one file and of those it extends, the first hundred: one that several profiles or sweep points run
/// into counts once.
struct ProblemList {
    /// The file's own, then that of the one it extends, and so on: `Position.file` counts them.
    private(set) var paths: [String]
    /// The file whose text is being read: its places are counted from 0 until it is a tree.
    var fileOfText = 0
    private var seen: Set<ScenarioProblem> = []
    private var problems: [ScenarioProblem] = []
    private var refused: Set<Position> = []
    /// Keys that a file can drop of the one it extends. Set once everything is read: what is wrong from there on is how values go
    /// together, also those of files that are extended.
    var removable: [String] = []

    init(path: String) { paths = [path] }

    /// A further file, which the last one extends.
    mutating func begin(_ path: String) { paths.append(path) }

    var isEmpty: Bool { problems.isEmpty }
    /// Nothing further is kept: no need to look for the right words.
    var isFull: Bool { problems.count == Self.maximum }

    /// A file with more problems than this is no scenario with a slip in it.
    private static let maximum = 100

    mutating func add(_ place: ScenarioProblem.Place, _ message: String) {
        guard !isFull else { return }
        // Names of a file may have line breaks in them.
        let text = message.split(whereSeparator: \.isNewline).joined(separator: " ") + remedyAbove(place, message)
        let problem = ScenarioProblem(place, text)
        if seen.insert(problem).inserted { problems.append(problem) }
    }

    /// What to do about a key of a file that is extended, which its reader may not be able to edit.
    private func remedyAbove(_ place: ScenarioProblem.Place, _ message: String) -> String {
        guard !removable.isEmpty, case .file(let path, _, _) = place, path != paths[0], paths.contains(path) else {
            return ""
        }
        let key = message.split(separator: "'").dropFirst(message.hasPrefix("'") ? 0 : 1).first.map(String.init) ?? ""
        guard removable.contains(key) else { return "" }
        return "; \(paths[0]) can drop it by 'without: [\(key)]'"
    }

    mutating func add(_ position: Position, _ message: String) {
        if !refused.contains(moved(position)) { add(place(position), message) }
    }

    /// Reports the value at `position` as one that cannot be read at all; whoever looks for it there is not heard.
    mutating func refuse(_ position: Position, _ message: String) {
        add(position, message)
        refused.insert(moved(position))
    }

    func place(_ position: Position) -> ScenarioProblem.Place {
        .file(path: paths[moved(position).file], line: position.line, column: position.column)
    }

    private func moved(_ position: Position) -> Position {
        var moved = position
        moved.file += fileOfText
        return moved
    }

    /// In file order, the file's own before those it extends; options follow in the order found.
    var sorted: [ScenarioProblem] {
        let keyed = problems.enumerated().map { index, problem in
            switch problem.place {
            case .path: (Position(line: 0, column: 0), index, problem)
            case .file(let path, let line, let column):
                (Position(line: line, column: column, file: paths.firstIndex(of: path) ?? 0), index, problem)
            case .option: (Position(line: 0, column: 0, file: .max), index, problem)
            }
        }
        return keyed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Throws what was collected, if anything was.
    func check() throws(ScenarioErrors) {
        if !isEmpty { throw ScenarioErrors(sorted) }
    }
}
