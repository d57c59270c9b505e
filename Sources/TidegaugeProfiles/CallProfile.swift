// Instructions of one or more threads by function and by call chain. A value.

public struct CallProfile: Codable, Sendable {
    /// Costs by `FunctionName.short`. With recorded callers (`--separate-callers`), recursion is not counted twice.
    /// Without them, the inclusive cost is the function's own cost plus that of its calls to others. Indirect
    /// recursion then counts twice, and helpers keep their own cost.
    public private(set) var functions: [String: FunctionCost]
    /// Call chains; only roots if callers were not recorded.
    public private(set) var tree: CallTree<Double>

    public static let empty = CallProfile(functions: [:], tree: CallTree())

    private init(functions: [String: FunctionCost], tree: CallTree<Double>) {
        (self.functions, self.tree) = (functions, tree)
    }

    /// Merges the specialisations and versions of a function.
    public init(_ part: CallgrindPart) {
        var tree = CallTree<Double>()
        let places = part.symbols.map { tree.function(FunctionName.short($0)) }
        for (chain, cost) in zip(part.contexts, part.exclusive) where cost > 0 {
            tree.add(Double(cost), chain: chain.reversed().lazy.map { places[$0] })
        }
        let exclusive = tree.exclusiveByFunction
        var inclusive = tree.inclusiveByFunction
        if !part.hasChains {
            for call in part.calls {
                let (caller, callee) = (places[part.contexts[call.caller][0]], places[part.contexts[call.callee][0]])
                if caller != callee { inclusive[caller] += Double(call.instructions) }
            }
        }
        let own = tree.exclusive(attributing: RuntimeHelper.contains)
        var functions: [String: FunctionCost] = [:]
        for (place, name) in tree.functions.enumerated() {
            let cost = FunctionCost(exclusive: exclusive[place], inclusive: inclusive[place], own: own[place])
            if cost != .zero { functions[name] = cost }
        }
        self.init(functions: functions, tree: tree)
    }

    /// Total number of instructions.
    public var total: Double { tree.nodes.reduce(0) { $0 + $1.exclusive } }

    /// Adds the profiles of two threads or of two parts.
    public static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.functions.merge(b.functions, uniquingKeysWith: +)
        sum.tree.add(b.tree) { $0 }
        return sum
    }

    /// Returns the cost per operation, such as a commit.
    /// - Parameter count: number of operations in the profile, at least 1.
    public func perOperation(_ count: Int) -> CallProfile {
        precondition(count > 0, "a profile of no operation has no cost per operation")
        var tree = CallTree<Double>()
        tree.add(self.tree) { $0 / Double(count) }
        return CallProfile(functions: functions.mapValues { $0 / Double(count) }, tree: tree)
    }
}
