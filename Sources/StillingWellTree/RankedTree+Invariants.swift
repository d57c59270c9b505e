// Invariants of trees. Debug builds check the nodes on the path to each entry that an edit changes, and small trees as
// a whole when their edit ends.
#if DEBUG
    extension RankedTree {
        /// Returns a description of the first violated invariant, or nil. O(n).
        func checkInvariants() -> String? {
            withExtendedLifetime(root) { check(root.node, isRoot: true) ?? checkOrder() }
        }

        private func check(_ node: RankedNode, isRoot: Bool) -> String? {
            if let violation = root.shape.check(node, isRoot: isRoot) { return violation }
            if node.isLeaf { return nil }
            return (0..<node.used).lazy.compactMap { check(node.children[$0], isRoot: false) }.first
        }

        private func checkOrder() -> String? {
            var previous: RankedKey?
            for entry in entries {
                if let previous, previous >= entry.key { return "entry \(entry) does not come after \(previous)" }
                previous = entry.key
            }
            return nil
        }

        /// Checks that each node below `trees` has as many references as places that store it. With fewer it would be
        /// freed too early, with more never. `trees` must be all trees that share their nodes. Returns a description of
        /// a violation, or nil. O(n).
        static func checkReferences(from trees: [RankedTree]) -> String? {
            var expected: [RankedNode: Int] = [:]
            func visit(_ node: RankedNode) {
                expected[node, default: 0] += 1
                guard expected[node] == 1 && !node.isLeaf else { return }
                for index in 0..<node.used { visit(node.children[index]) }
            }
            for root in Dictionary(grouping: trees, by: { ObjectIdentifier($0.root) }).values {
                visit(root[0].root.node)
            }
            let wrong = expected.first { $0.key.referenceCount != $0.value }
            return wrong.map { "node of height \($0.height): \($0.referenceCount) references, \($1) owners" }
        }
    }

    extension RankedTree.Shape {
        /// Returns a description of the first rule that a node violates by itself or together with its children, or
        /// nil.
        fileprivate func check(_ node: RankedNode, isRoot: Bool) -> String? {
            let name = "node of height \(node.height) with \(node.used) slots"
            if node.capacity != capacity(height: node.height) { return "\(name): capacity \(node.capacity)" }
            if node.used > node.capacity { return "\(name): more than its capacity" }
            let minimum = isRoot ? (node.isLeaf ? 0 : 2) : minimum(height: node.height)
            if node.used < minimum { return "\(name): fewer than \(minimum)" }
            if let tails = node.tails {
                for index in node.used..<node.capacity where tails[index] != nil {
                    return "\(name): a tail in the unused slot \(index)"
                }
            }
            if node.isLeaf { return node.total == node.used ? nil : "\(name): total \(node.total)" }
            var total = 0
            for index in 0..<node.used {
                let child = node.children[index]
                if child.height != node.height - 1 { return "\(name): child \(index) has height \(child.height)" }
                if !node.hasSummary(of: child, at: index) {
                    return "\(name): the measures of child \(index) are not made of what is below it"
                }
                if child.total != node.counts[index] { return "\(name): count \(index) is not that of the child" }
                if child.key(at: 0) != node.key(at: index) {
                    return "\(name): key \(index) is not the child's smallest"
                }
                total += child.total
            }
            return total == node.total ? nil : "\(name): total \(node.total), children have \(total)"
        }
    }

    extension RankedEdit {
        /// Returns a description of the first violated rule of the nodes on the path to a key, or nil.
        func checkPath(to key: BareKey) -> String? {
            var node = root
            while true {
                if let violation = shape.check(node, isRoot: node == root) { return violation }
                if node.isLeaf { break }
                node = node.children[node.childIndex(for: key)]
            }
            let place = node.lowerBound(key)
            for index in max(1, place - 1)..<max(1, min(place + 2, node.used))
            where !(node.key(at: index - 1) < node.key(at: index)) {
                return "entry \(node.entry(at: index)) does not come after the one before it"
            }
            return nil
        }

        /// Nodes from the root to the first leaf.
        var pathToFirstLeaf: [RankedNode] {
            var path = [root]
            while let last = path.last, !last.isLeaf { path.append(last.children[0]) }
            return path
        }
    }
#endif
