// Call chains that share common prefixes (a trie). A value.

/// - Parameter Cost: cost of a function in one profile, or in two.
public struct CallTree<Cost: AdditiveArithmetic & Sendable>: Sendable {
    public struct Node: Sendable {
        /// Index in `functions`.
        public var function: Int
        /// Index of the caller in `nodes`, lower than this node's; nil for the outermost known caller.
        public var parent: Int?
        /// Cost of the function itself in this call chain.
        public var exclusive: Cost
    }

    private struct Edge: Hashable {
        var parent: Int?
        var function: Int
    }

    /// Distinct function names.
    public private(set) var functions: [String] = []
    /// Nodes, each after its parent.
    public private(set) var nodes: [Node] = []
    private var places: [String: Int] = [:]
    private var edges: [Edge: Int] = [:]

    public init() {}

    /// Returns the index of a function in `functions`, adding it if it is new.
    public mutating func function(_ name: String) -> Int {
        if let place = places[name] { return place }
        places[name] = functions.count
        functions.append(name)
        return functions.count - 1
    }

    /// Returns the index of a called function's node, adding it if it is new. Direct recursion stays in one node.
    public mutating func node(_ function: Int, calledBy parent: Int?) -> Int {
        if let parent, nodes[parent].function == function { return parent }
        let edge = Edge(parent: parent, function: function)
        if let place = edges[edge] { return place }
        edges[edge] = nodes.count
        nodes.append(Node(function: function, parent: parent, exclusive: .zero))
        return nodes.count - 1
    }

    /// Adds the exclusive cost of the last function of a chain.
    /// - Parameter chain: indices in `functions`, outermost first.
    public mutating func add(_ cost: Cost, chain: some Sequence<Int>) {
        var last: Int?
        for function in chain { last = node(function, calledBy: last) }
        if let last { nodes[last].exclusive += cost }
    }

    /// Adds another tree with converted costs.
    public mutating func add<Other>(_ other: CallTree<Other>, _ cost: (Other) -> Cost) {
        let functions = other.functions.map { function($0) }
        var places: [Int] = []
        for node in other.nodes {
            places.append(self.node(functions[node.function], calledBy: node.parent.map { places[$0] }))
            nodes[places.last!].exclusive += cost(node.exclusive)
        }
    }

    /// Returns the functions of the chain to a node, outermost first, including the node's own.
    public func path(to node: Int) -> [String] {
        sequence(first: node) { nodes[$0].parent }.map { functions[nodes[$0].function] }.reversed()
    }

    /// Inclusive cost of each node, in the order of `nodes`. O(n).
    public var inclusive: [Cost] {
        var costs = nodes.map(\.exclusive)
        for (place, node) in nodes.enumerated().reversed() {
            if let parent = node.parent { costs[parent] += costs[place] }
        }
        return costs
    }

    /// Inclusive cost of each function, in the order of `functions`: the cost of all chains that contain it, each
    /// counted once. O(n · depth).
    public var inclusiveByFunction: [Cost] {
        var sums = [Cost](repeating: .zero, count: functions.count)
        for (node, cost) in zip(nodes, inclusive) where !callers(of: node).contains(where: { $0 == node.function }) {
            sums[node.function] += cost
        }
        return sums
    }

    /// Exclusive cost of each function, in the order of `functions`.
    public var exclusiveByFunction: [Cost] { exclusive { _ in false } }

    /// Returns the exclusive cost of each function including that of helpers called on its behalf, in the order of
    /// `functions`. A helper's cost is attributed to the nearest caller that is not a helper, else to itself. O(n ·
    /// depth).
    public func exclusive(attributing isHelper: (String) -> Bool) -> [Cost] {
        let helpers = functions.map(isHelper)
        var sums = [Cost](repeating: .zero, count: functions.count)
        for node in nodes {
            let owner = helpers[node.function] ? callers(of: node).first { !helpers[$0] } : node.function
            sums[owner ?? node.function] += node.exclusive
        }
        return sums
    }

    /// Calling functions, nearest first.
    private func callers(of node: Node) -> some Sequence<Int> {
        sequence(state: node.parent) { (next: inout Int?) -> Int? in
            guard let place = next else { return nil }
            next = nodes[place].parent
            return nodes[place].function
        }
    }
}

extension CallTree.Node: Codable where Cost: Codable {}

extension CallTree: Codable where Cost: Codable {
    private enum CodingKeys: CodingKey {
        case functions, nodes
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for name in try container.decode([String].self, forKey: .functions) { _ = function(name) }
        for read in try container.decode([Node].self, forKey: .nodes) {
            guard functions.indices.contains(read.function), read.parent.map(nodes.indices.contains) ?? true else {
                throw DecodingError.dataCorruptedError(
                    forKey: .nodes, in: container, debugDescription: "a node names a place that is not there")
            }
            nodes[node(read.function, calledBy: read.parent)].exclusive += read.exclusive
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(functions, forKey: .functions)
        try container.encode(nodes, forKey: .nodes)
    }
}
