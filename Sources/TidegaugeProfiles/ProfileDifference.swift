// Functions and call chains of two profiles, with their cost in each. A value.

public struct ProfileDifference: Sendable {
    /// A function and its costs, 0 in a profile that lacks it.
    public struct Row: Sendable, Equatable {
        /// `FunctionName.short`.
        public var name: String
        public var exclusive: BeforeAfter<Double>
        public var inclusive: BeforeAfter<Double>
        /// Exclusive cost, with that of runtime helpers on its behalf.
        public var own: BeforeAfter<Double>
    }

    /// A chain of calls.
    public struct Path: Sendable, Equatable {
        /// Functions, outermost first.
        public var names: [String]
        /// Exclusive cost of the last function.
        public var exclusive: BeforeAfter<Double>
    }

    /// Functions of either profile, by descending growth of the exclusive cost.
    public let rows: [Row]
    /// Call chains of either profile.
    public let tree: CallTree<BeforeAfter<Double>>

    /// Compares two profiles of the same number of operations, or per operation.
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

    /// Total instructions.
    public var total: BeforeAfter<Double> { tree.nodes.reduce(.zero) { $0 + $1.exclusive } }

    /// Returns the rows whose exclusive cost grew by at least `instructions`.
    public func grown(atLeast instructions: Double) -> [Row] {
        Array(rows.prefix { $0.exclusive.growth >= instructions })
    }

    /// Functions whose `own` cost grew, by descending growth, so that an additional retain counts for its caller.
    public var culprits: [Row] {
        rows.filter { $0.own.growth > 0 }.sorted { ($1.own.growth, $0.name) < ($0.own.growth, $1.name) }
    }

    /// Returns at most `count` chains with the largest growth of the last function's exclusive cost, largest first.
    public func paths(most count: Int) -> [Path] {
        let grown = tree.nodes.indices.map { ($0, tree.nodes[$0].exclusive) }.filter { $0.1.growth > 0 }
        // Sorted before the paths are built, because only a few are needed. Indices make the order deterministic.
        let largest = grown.sorted { ($1.1.growth, $0.0) < ($0.1.growth, $1.0) }.prefix(count)
        return largest.map { Path(names: tree.path(to: $0.0), exclusive: $0.1) }
    }
}
