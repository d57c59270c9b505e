// Which functions cost more in one profile than in another, and on which ways. A value.

public struct ProfileDifference: Sendable {
    /// A function; without cost in a profile that it is not part of.
    public struct Row: Sendable, Equatable {
        /// `FunctionName.short`.
        public var name: String
        public var exclusive: BeforeAfter<Double>
        public var inclusive: BeforeAfter<Double>
        /// With what helpers of the runtime executed on its behalf.
        public var own: BeforeAfter<Double>
    }

    /// A chain of calls.
    public struct Path: Sendable, Equatable {
        /// Functions, outermost first.
        public var names: [String]
        /// Of the last of them.
        public var exclusive: BeforeAfter<Double>
    }

    /// Every function of either profile, by the growth of its exclusive cost, the largest first.
    public let rows: [Row]
    /// Both profiles' chains.
    public let tree: CallTree<BeforeAfter<Double>>

    /// Both of the same number of operations, or per operation. O(n log n).
    public init(base: CallProfile, head: CallProfile) {
        rows = Set(base.functions.keys).union(head.functions.keys).map { name in
            let (before, after) = (base.functions[name] ?? .zero, head.functions[name] ?? .zero)
            func pair(_ figure: KeyPath<FunctionCost, Double>) -> BeforeAfter<Double> {
                BeforeAfter(before: before[keyPath: figure], after: after[keyPath: figure])
            }
            return Row(name: name, exclusive: pair(\.exclusive), inclusive: pair(\.inclusive), own: pair(\.own))
        }.sorted { ($1.exclusive.growth, $0.name) < ($0.exclusive.growth, $1.name) }
        var tree = CallTree<BeforeAfter<Double>>()
        tree.add(base.tree) { BeforeAfter(before: $0) }
        tree.add(head.tree) { BeforeAfter(after: $0) }
        self.tree = tree
    }

    /// Instructions altogether.
    public var total: BeforeAfter<Double> { tree.nodes.reduce(.zero) { $0 + $1.exclusive } }

    /// The rows whose exclusive cost grew by so many instructions or more.
    public func grown(atLeast instructions: Double) -> [Row] {
        Array(rows.prefix { $0.exclusive.growth >= instructions })
    }

    /// The functions that grew, ranked by what they cost themselves with the helpers that they made run: the first is the
    /// one to look at. A retain more is its caller's doing.
    public var culprits: [Row] {
        rows.filter { $0.own.growth > 0 }.sorted { ($1.own.growth, $0.name) < ($0.own.growth, $1.name) }
    }

    /// The chains whose last function's exclusive cost grew most, the largest first.
    public func paths(most count: Int) -> [Path] {
        let grown = tree.nodes.indices.map { ($0, tree.nodes[$0].exclusive) }.filter { $0.1.growth > 0 }
        // Sorted before they are written out: of many nodes only few are asked for. Places are the same for equal input.
        let largest = grown.sorted { ($1.1.growth, $0.0) < ($0.1.growth, $1.0) }.prefix(count)
        return largest.map { Path(names: tree.path(to: $0.0), exclusive: $0.1) }
    }
}
