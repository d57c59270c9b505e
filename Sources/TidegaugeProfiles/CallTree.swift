// Who ran, called by whom: chains of calls with a common beginning share it (a trie). A value.

/// - Parameter Cost: what a function costs: of one profile, or of two side by side.
public struct CallTree<Cost: AdditiveArithmetic & Sendable>: Sendable {
    public struct Node: Sendable {
        /// A place in `functions`.
        public var function: Int
        /// A place in `nodes`, before this one; nil: the outermost caller that is known.
        public var parent: Int?
        /// Of the function itself, on this way.
        public var exclusive: Cost
    }

    private struct Edge: Hashable {
        var parent: Int?
        var function: Int
    }

    /// Names, each once.
    public private(set) var functions: [String] = []
    /// Each behind its parent.
    public private(set) var nodes: [Node] = []
    private var places: [String: Int] = [:]
    private var edges: [Edge: Int] = [:]

    public init() {}

    /// The place of a function in `functions`, added where it is new.
    public mutating func function(_ name: String) -> Int {
        if let place = places[name] { return place }
        places[name] = functions.count
        functions.append(name)
        return functions.count - 1
    }

    /// The place in `nodes` of what a node calls, added where it is new. A function that calls itself stays one node.
    public mutating func node(_ function: Int, calledBy parent: Int?) -> Int {
        if let parent, nodes[parent].function == function { return parent }
        let edge = Edge(parent: parent, function: function)
        if let place = edges[edge] { return place }
        edges[edge] = nodes.count
        nodes.append(Node(function: function, parent: parent, exclusive: .zero))
        return nodes.count - 1
    }

    /// Adds what a function executed itself, called as `chain` says.
    /// - Parameter chain: places in `functions`, outermost first.
    public mutating func add(_ cost: Cost, chain: some Sequence<Int>) {
        var last: Int?
        for function in chain { last = node(function, calledBy: last) }
        if let last { nodes[last].exclusive += cost }
    }

    /// Adds another tree, its costs made into those of this one. O(nodes of the other).
    public mutating func add<Other>(_ other: CallTree<Other>, _ cost: (Other) -> Cost) {
        let functions = other.functions.map { function($0) }
        var places: [Int] = []
        for node in other.nodes {
            places.append(self.node(functions[node.function], calledBy: node.parent.map { places[$0] }))
            nodes[places.last!].exclusive += cost(node.exclusive)
        }
    }

    /// The functions on the way to a node, outermost first, and the node's own.
    public func path(to node: Int) -> [String] {
        sequence(first: node) { nodes[$0].parent }.map { functions[nodes[$0].function] }.reversed()
    }

    /// Of each node with everything it called, in the order of `nodes`. O(n).
    public var inclusive: [Cost] {
        var costs = nodes.map(\.exclusive)
        for (place, node) in nodes.enumerated().reversed() {
            if let parent = node.parent { costs[parent] += costs[place] }
        }
        return costs
    }

    /// Of each function, in the order of `functions`: the cost of all chains that it is part of, each once, so that
    /// recursion counts nothing twice. O(n · depth).
    public var inclusiveByFunction: [Cost] {
        var sums = [Cost](repeating: .zero, count: functions.count)
        for (node, cost) in zip(nodes, inclusive) where !callers(of: node).contains(where: { $0 == node.function }) {
            sums[node.function] += cost
        }
        return sums
    }

    /// Of each function, in the order of `functions`: what its nodes executed themselves.
    public var exclusiveByFunction: [Cost] { exclusive { _ in false } }

    /// Of each function, in the order of `functions`: what it executed itself, and what helpers executed on its behalf.
    /// A helper's cost goes to the nearest caller that is none, and stays where it is if there is no such caller.
    /// O(n · depth).
    public func exclusive(attributing isHelper: (String) -> Bool) -> [Cost] {
        let helpers = functions.map(isHelper)
        var sums = [Cost](repeating: .zero, count: functions.count)
        for node in nodes {
            let owner = helpers[node.function] ? callers(of: node).first { !helpers[$0] } : node.function
            sums[owner ?? node.function] += node.exclusive
        }
        return sums
    }

    /// Functions, the nearest first.
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
