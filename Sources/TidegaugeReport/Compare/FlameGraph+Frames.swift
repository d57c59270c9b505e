// Layout of a flame graph's frames. Widths are in instructions; `FlameGraph` scales them.
import TidegaugeProfiles

extension FlameGraph {
    struct Frame {
        var name: String
        /// 0 for the frame of the whole.
        var depth: Int
        var x: Double
        var width: Double
        var inclusive: BeforeAfter<Double>

        /// Returns all frames, callers before callees and siblings by name, so that the layout is deterministic.
        static func all(of tree: CallTree<BeforeAfter<Double>>) -> [Frame] {
            var widths = tree.nodes.map { max($0.exclusive.before, $0.exclusive.after) }
            for (place, node) in tree.nodes.enumerated().reversed() {
                if let parent = node.parent { widths[parent] += widths[place] }
            }
            let inclusive = tree.inclusive
            let called = Dictionary(grouping: tree.nodes.indices) { tree.nodes[$0].parent }.mapValues { places in
                places.sorted { tree.functions[tree.nodes[$0].function] < tree.functions[tree.nodes[$1].function] }
            }
            let roots = called[nil, default: []]
            var frames = [
                Frame(
                    name: "all", depth: 0, x: 0, width: roots.reduce(0) { $0 + widths[$1] },
                    inclusive: roots.reduce(.zero) { $0 + inclusive[$1] })
            ]
            func add(_ places: [Int], depth: Int, x: Double) {
                var x = x
                for place in places {
                    let name = tree.functions[tree.nodes[place].function]
                    frames.append(
                        Frame(name: name, depth: depth, x: x, width: widths[place], inclusive: inclusive[place]))
                    add(called[place, default: []], depth: depth + 1, x: x)
                    x += widths[place]
                }
            }
            add(roots, depth: 1, x: 0)
            return frames
        }
    }
}
