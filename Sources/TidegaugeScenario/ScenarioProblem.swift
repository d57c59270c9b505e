// Problems of files and options with their position. Values only.
import TidegaugeSpec

/// A problem of a file or of an option.
public struct ScenarioProblem: Sendable, Hashable, CustomStringConvertible {
    /// Position of a problem.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// Position in a file, with line and column from 1; columns count Unicode scalars.
        case file(path: String, line: Int, column: Int)
        /// A whole file or folder.
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
    /// Description, which ends with the remedy if there is one.
    public var message: String

    public init(_ place: Place, _ message: String) { (self.place, self.message) = (place, message) }

    /// Text such as `Scenarios/latency/commit-latency.yaml:14:9: unknown key 'obsrevers' (did you mean 'observers'?)`.
    public var description: String { "\(place): \(message)" }
}

/// Problems, of which there is at least one when thrown. Exit code 65.
public struct ScenarioErrors: Error, Sendable, Hashable, CustomStringConvertible {
    public var problems: [ScenarioProblem]

    public init(_ problems: [ScenarioProblem]) { self.problems = problems }

    /// One problem per line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects up to 100 problems of a file and the files that it extends. One at several profiles or points is kept once.
struct ProblemList {
    /// Path of the file, then of the file that it extends, and so on; indexed by `Position.file`.
    private(set) var paths: [String]
    /// Index of the file that is being parsed. Its positions have index 0 until the tree is complete.
    var fileOfText = 0
    private var seen: Set<ScenarioProblem> = []
    private var problems: [ScenarioProblem] = []
    private var refused: Set<Position> = []
    /// Keys that a file can remove from the file that it extends. Set after reading: later problems are conflicts
    /// between values, also in extended files.
    var removable: [String] = []

    init(path: String) { paths = [path] }

    /// Adds the path of a file that the last one extends.
    mutating func begin(_ path: String) { paths.append(path) }

    var isEmpty: Bool { problems.isEmpty }
    /// Whether no further problems are kept.
    var isFull: Bool { problems.count == Self.maximum }

    /// Maximum number of problems that are kept.
    private static let maximum = 100

    mutating func add(_ place: ScenarioProblem.Place, _ message: String) {
        guard !isFull else { return }
        // Names in a file may contain line breaks.
        let text = message.split(whereSeparator: \.isNewline).joined(separator: " ") + remedyAbove(place, message)
        let problem = ScenarioProblem(place, text)
        if seen.insert(problem).inserted { problems.append(problem) }
    }

    /// Returns a remedy for a key in an extended file, which the user may not be able to edit; otherwise an empty text.
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

    /// Reports the value at `position` as unreadable and suppresses further problems there.
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

    /// Problems in order: those of whole files, of the file in file order, of extended files, of options.
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

    /// Throws the collected problems, if any.
    func check() throws(ScenarioErrors) {
        if !isEmpty { throw ScenarioErrors(sorted) }
    }
}
