// A filter compiled for testing many rows: simple conditions, each with the next step if it holds and if not, so a row
// is tested only until the result is known. A test recurses only for links and lists, whose number is bounded.
// Immutable; any thread.
import StillingWellBasis

struct FilterProgram: Sendable {
    /// Results of a row that passes, and of one that does not.
    private static let pass = -1
    private static let fail = -2

    private struct Step {
        let test: FilterTest
        let whenTrue: Int
        let whenFalse: Int
    }

    private var steps: [Step] = []
    private var start = Self.pass

    /// Compiles a filter. O(all parts).
    init(_ filter: FilterExpression) { start = compile(filter) }

    /// - Parameter reach: access to other rows, only needed if the filter's `needsReach`.
    func matches(_ row: RowReader, _ reach: Reach?) -> Bool {
        var place = start
        while place >= 0 {
            place = steps[place].test.matches(row, reach) ? steps[place].whenTrue : steps[place].whenFalse
        }
        return place == Self.pass
    }

    /// A conjunction or disjunction being compiled, from the last part on. Each part continues with the one after it.
    private struct Frame {
        let node: FilterNode
        var next: Int
        let whenTrue: Int
        let whenFalse: Int
    }

    /// - Returns: the first step.
    private mutating func compile(_ filter: FilterExpression) -> Int {
        var frames: [Frame] = []
        var pending: (filter: FilterExpression, whenTrue: Int, whenFalse: Int)? = (filter, Self.pass, Self.fail)
        /// First step of the part that was compiled last.
        var place = Self.pass
        while true {
            if let (filter, whenTrue, whenFalse) = pending {
                pending = nil
                switch filter {
                case .all: place = whenTrue
                case .none: place = whenFalse
                case .node(let node):
                    switch node.kind {
                    case .and, .or:
                        place = node.kind == .and ? whenTrue : whenFalse
                        frames.append(
                            Frame(node: node, next: node.parts.count - 1, whenTrue: whenTrue, whenFalse: whenFalse))
                    case .not: pending = (node.parts[0], whenFalse, whenTrue)
                    case .naming: pending = (node.parts[0], whenTrue, whenFalse)
                    case .linked(let column):
                        place = add(.linked(along: column, FilterProgram(node.parts[0])), whenTrue, whenFalse)
                    case .quantified(let column, let quantifier):
                        let condition = FilterProgram(node.parts[0])
                        place = add(.quantified(column: column, quantifier, condition), whenTrue, whenFalse)
                    }
                case .column(let column, let test, let isOptional):
                    let prepared = FilterExpression.column(column, test.prepared, isOptional: isOptional)
                    place = add(.leaf(prepared), whenTrue, whenFalse)
                case .identity, .aggregate: place = add(.leaf(filter), whenTrue, whenFalse)
                }
                continue
            }
            guard let frame = frames.last else { return place }
            if frame.next < 0 {
                frames.removeLast()
                continue
            }
            frames[frames.count - 1].next -= 1
            let isAnd = frame.node.kind == .and
            pending = (frame.node.parts[frame.next], isAnd ? place : frame.whenTrue, isAnd ? frame.whenFalse : place)
        }
    }

    /// Path and condition, if the program only tests a condition on a link's target; otherwise nil.
    fileprivate var onlyLink: (way: [Int], condition: FilterProgram)? {
        guard steps.count == 1, start == 0, steps[0].whenTrue == Self.pass, steps[0].whenFalse == Self.fail,
            case .linked(let way, let condition) = steps[0].test
        else { return nil }
        return (way, condition)
    }

    private mutating func add(_ test: FilterTest, _ whenTrue: Int, _ whenFalse: Int) -> Int {
        steps.append(Step(test: test, whenTrue: whenTrue, whenFalse: whenFalse))
        return steps.count - 1
    }
}

/// A condition that does not combine others on the same row.
enum FilterTest: Sendable {
    case leaf(FilterExpression)
    case linked(way: [Int], FilterProgram)
    case quantified(column: Int, Quantifier, FilterProgram)

    /// Condition on the target of a link. If it is only a condition on that target's link, both become one path.
    static func linked(along column: Int, _ condition: FilterProgram) -> FilterTest {
        guard let (way, condition) = condition.onlyLink else { return .linked(way: [column], condition) }
        return .linked(way: [column] + way, condition)
    }

    func matches(_ row: RowReader, _ reach: Reach?) -> Bool {
        switch self {
        case .leaf(let filter): filter.leafMatches(row, reach)
        case .linked(let way, let condition):
            reach?.end(of: way, from: row).map { condition.matches($0.0, $0.1) } ?? false
        case .quantified(let column, let quantifier, let condition):
            reach?.matches(row, column, quantifier, condition) ?? false
        }
    }
}

extension FilterExpression {
    fileprivate func leafMatches(_ row: RowReader, _ reach: Reach?) -> Bool {
        switch self {
        case .all: true
        case .none: false
        case .column(let column, let test, let isOptional): test.passes(row, column, isOptional: isOptional)
        case .identity(let id): reach?.id == id
        case .aggregate(let column, let aggregate, let of, let comparison, let constant):
            reach.map { AggregateValue.admits($0.aggregate(row, column, aggregate, of), comparison, constant) } ?? false
        case .node: stopProgram("a filter that is made of others is several steps of a program")
        }
    }
}
