// Random programs with calls and costs, the profile that follows from them by definition, and callgrind's output for
// them.
import StillingWellSeededRandom

@testable import TidegaugeProfiles

struct RandomCalls {
    struct Frame {
        var function: String
        /// Functions from the outermost caller to this function.
        var path: [String]
        var cost: Int
        var children: [Int] = []
        /// Number of this function's occurrences in its path.
        var turn: Int
    }

    /// Callers before callees. The first is `main`.
    private(set) var frames: [Frame] = []

    /// - Parameter isRecursive: whether a function may call itself, directly or through others.
    init(_ random: inout SeededRandom, isRecursive: Bool) {
        func add(_ function: String, _ path: [String], _ depth: Int) -> Int {
            let place = frames.count
            let turn = path.count { $0 == function } + 1
            frames.append(Frame(function: function, path: path + [function], cost: random.below(50), turn: turn))
            guard depth < 6 else { return place }
            for _ in 0..<random.below(depth == 0 ? 6 : 3) {
                let names = ["parse", "walk", "merge", "swift_retain", "malloc"]
                let name = names[random.below(names.count)] + (isRecursive ? "" : "\(depth)")
                frames[place].children.append(add(name, frames[place].path, depth + 1))
            }
            return place
        }
        _ = add("main", [], 0)
    }

    private func inclusive(_ frame: Frame) -> Int { frame.children.reduce(frame.cost) { $0 + inclusive(frames[$1]) } }

    // MARK: By definition

    var functions: [String: FunctionCost] {
        var costs: [String: FunctionCost] = [:]
        for frame in frames {
            costs[frame.function, default: .zero].exclusive += Double(frame.cost)
            for name in Set(frame.path) { costs[name, default: .zero].inclusive += Double(frame.cost) }
            // `main` is no helper.
            let owner = frame.path.last { !$0.hasPrefix("swift_retain") && !$0.hasPrefix("malloc") }!
            costs[owner, default: .zero].own += Double(frame.cost)
        }
        return costs.filter { $0.value != .zero }
    }

    /// Costs by path, without zeros. A function that calls itself directly appears once.
    var exclusiveByPath: [[String]: Int] {
        Dictionary(frames.map { ($0.path.withoutRepetitions, $0.cost) }, uniquingKeysWith: +).filter { $0.value > 0 }
    }

    // MARK: As callgrind writes it

    struct Style {
        var hasChains: Bool
        var isCompressed: Bool
        var isRelative: Bool
    }

    func text(_ style: Style, _ random: inout SeededRandom) -> String {
        var lines = ["version: 1", "pid: 1", "positions: line", "events: Ir", ""]
        var numbers: [String: Int] = [:]
        var last = 0
        func named(_ key: String, _ name: String) -> String {
            guard style.isCompressed else { return "\(key)=\(name)" }
            if let number = numbers[name] { return "\(key)=(\(number))" }
            numbers[name] = numbers.count + 1
            return "\(key)=(\(numbers.count)) \(name)"
        }
        func position() -> String {
            let line = random.below(100)
            defer { last = line }
            guard style.isRelative else { return "\(line)" }
            return line == last ? "*" : line > last ? "+\(line - last)" : "-\(last - line)"
        }
        func name(_ frame: Frame) -> String {
            guard style.hasChains else { return frame.function }
            let turn = frame.turn > 1 ? ["\(frame.turn)"] : []
            return ([frame.function] + turn + frame.path.dropLast().reversed()).joined(separator: "'")
        }
        for frame in frames.shuffled(using: &random) {
            lines.append(named("fn", name(frame)))
            // The cost is split over two source lines.
            let first = random.below(frame.cost + 1)
            lines += ["\(position()) \(first)", "\(position()) \(frame.cost - first)"]
            for child in frame.children {
                lines.append(named("cfn", name(frames[child])))
                lines.append("calls=1 \(position())")
                lines.append("\(position()) \(inclusive(frames[child]))")
            }
        }
        return (lines + ["", "totals: \(inclusive(frames[0]))", ""]).joined(separator: "\n")
    }
}

extension Array where Element: Equatable {
    /// The elements without repetitions of the previous one.
    var withoutRepetitions: [Element] { reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
}
