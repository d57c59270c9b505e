// Node of a filter that combines others. Immutable, and shared by all filters built from it. Any thread. Properties of
// the whole subtree are computed when the node is made, from those of its parts.

/// Unchecked because of `parts`, which change only when no other reference to the node exists.
final class FilterNode: @unchecked Sendable {
    enum Kind: Hashable {
        case and, or, not
        case linked(column: Int)
        case quantified(column: Int, Quantifier)
        case naming(ObjectHome)
    }

    let kind: Kind
    /// One part, except for `and` and `or`. Changed only when the last reference is released.
    private(set) var parts: [FilterExpression]
    let needsReach: Bool
    let ownColumns: UInt64
    let linkDepth: Int
    let namesObjects: Bool
    private let hash: Int

    init(_ kind: Kind, _ parts: [FilterExpression]) {
        self.kind = kind
        self.parts = parts
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(parts)
        hash = hasher.finalize()
        let depth = parts.lazy.map(\.linkDepth).max() ?? 0
        switch kind {
        case .and, .or, .not, .naming:
            needsReach = parts.contains(where: \.needsReach)
            ownColumns = parts.reduce(0) { $0 | $1.ownColumns }
            linkDepth = depth
        case .linked(let column), .quantified(let column, _):
            needsReach = true
            ownColumns = 1 << UInt64(column)
            linkDepth = depth + 1
        }
        if case .naming = kind { namesObjects = true } else { namesObjects = parts.contains(where: \.namesObjects) }
    }

    deinit {
        var pending: [FilterNode] = []
        moveNodes(to: &pending)
        // Nodes are released without their parts: releasing nested parts would recurse as deep as they are nested.
        while var node = pending.popLast() {
            if isKnownUniquelyReferenced(&node) { node.moveNodes(to: &pending) }
        }
    }

    private func moveNodes(to nodes: inout [FilterNode]) {
        for case .node(let node) in parts { nodes.append(node) }
        parts = []
    }

    /// Filters with nodes of `kind` replaced by their parts, at any depth, in order. O(all parts).
    static func flattened(_ filters: [FilterExpression], _ kind: Kind) -> [FilterExpression] {
        var flat: [FilterExpression] = []
        // A shared part that occurs again is redundant.
        var met: Set<ObjectIdentifier> = []
        var pending: [FilterExpression] = filters.reversed()
        while let next = pending.popLast() {
            guard case .node(let node) = next, node.kind == kind else {
                flat.append(next)
                continue
            }
            if met.insert(ObjectIdentifier(node)).inserted { pending.append(contentsOf: node.parts.reversed()) }
        }
        return flat
    }
}

extension FilterNode: Hashable {
    static func == (left: FilterNode, right: FilterNode) -> Bool {
        var pending = [(left, right)]
        while let (left, right) = pending.popLast() {
            if left === right { continue }
            guard left.hash == right.hash, left.kind == right.kind, left.parts.count == right.parts.count else {
                return false
            }
            for parts in zip(left.parts, right.parts) {
                if case (.node(let left), .node(let right)) = parts {
                    pending.append((left, right))
                } else if parts.0 != parts.1 {
                    return false
                }
            }
        }
        return true
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A node with its context.
private struct FoldKey<Context: Hashable>: Hashable {
    let node: ObjectIdentifier
    let context: Context
}

/// A node that is being folded, with the values of its finished parts.
private struct FoldFrame<Context: Hashable, Value> {
    let key: FoldKey<Context>
    let node: FilterNode
    let parts: [FilterExpression]
    let innerContext: Context
    var done: [Value] = []
}

extension FilterExpression {
    /// Computes a value of a filter bottom-up, once for each shared part and context. O(all parts).
    /// - Parameters:
    ///   - context: the context of this expression.
    ///   - inner: returns the parts of a node to fold, and their context.
    ///   - leaf: returns the value of a part that is no node.
    ///   - join: returns the value of a node, given the values of its parts.
    func folded<Context: Hashable, Value, Failure: Error>(
        _ context: Context,
        inner: (FilterNode, Context) throws(Failure) -> (parts: [FilterExpression], context: Context),
        leaf: (FilterExpression, Context) throws(Failure) -> Value,
        join: (FilterNode, Context, [Value]) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard case .node(let root) = self else { return try leaf(self, context) }
        func frame(_ node: FilterNode, _ context: Context) throws(Failure) -> FoldFrame<Context, Value> {
            let (parts, innerContext) = try inner(node, context)
            return FoldFrame(
                key: FoldKey(node: ObjectIdentifier(node), context: context), node: node, parts: parts,
                innerContext: innerContext)
        }
        var known: [FoldKey<Context>: Value] = [:]
        var frames = [try frame(root, context)]
        while true {
            let top = frames.count - 1
            if frames[top].done.count < frames[top].parts.count {
                let part = frames[top].parts[frames[top].done.count]
                let context = frames[top].innerContext
                guard case .node(let node) = part else {
                    frames[top].done.append(try leaf(part, context))
                    continue
                }
                if let result = known[FoldKey(node: ObjectIdentifier(node), context: context)] {
                    frames[top].done.append(result)
                } else {
                    frames.append(try frame(node, context))
                }
                continue
            }
            let frame = frames.removeLast()
            let result = try join(frame.node, frame.key.context, frame.done)
            guard !frames.isEmpty else { return result }
            known[frame.key] = result
            frames[frames.count - 1].done.append(result)
        }
    }
}
