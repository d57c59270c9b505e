// One thread changes a tree and publishes each state, as upkeep does. Other threads take the last state, compare it
// with their previous one, and read it. Meant for ThreadSanitizer as well.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellTree

/// The last published tree. `lock` guards `tree` and `isOver`.
private final class Publication: @unchecked Sendable {
    private let lock = NSLock()
    private var tree: RankedTree
    private var isOver = false

    init(_ tree: RankedTree) {
        self.tree = tree
    }

    var last: (tree: RankedTree, isOver: Bool) { lock.withLock { (tree, isOver) } }

    func publish(_ next: RankedTree) {
        // The former tree is released outside of the lock, as the store must do.
        let former = lock.withLock {
            let former = tree
            tree = next
            return former
        }
        withExtendedLifetime(former) {}
    }

    func end() {
        lock.withLock { isOver = true }
    }
}

/// Violation that one reader found. Written before the reader leaves the group, read after a wait for the group.
private final class Finding: @unchecked Sendable {
    var violation: String?
}

@Suite struct RankedConcurrencyTests {
    private static let edits = 1_500
    private static let readers = 3

    @Test func readersSeeEveryPublishedTreeUnchanged() {
        let seed = SeededRandom.base
        var random = SeededRandom(seed: seed)
        var model = TreeModel(space: .longFixed)
        for _ in 0..<200 { _ = model.add(version: 1, &random) }
        let shape = RankedTree.Shape(leafCapacity: 6, innerCapacity: 4)
        let publication = Publication(RankedTree(sorted: model.rows.map(\.entry), shape: shape))
        let group = DispatchGroup()
        let findings = (0..<Self.readers).map { _ in Finding() }
        for finding in findings {
            group.enter()
            Thread.detachNewThread {
                finding.violation = Self.follow(publication)
                group.leave()
            }
        }
        for version in 2..<UInt64(2 + Self.edits) {
            var tree = publication.last.tree
            let changes = (0..<1 + random.below(4)).map { _ in model.change(version: version, &random) }
            tree.edit { edit in
                for change in changes {
                    if let old = change.old { edit.remove(old.key) }
                    if let new = change.new { edit.insert(new.entry) }
                }
            }
            publication.publish(tree)
        }
        publication.end()
        group.wait()
        #expect(findings.compactMap(\.violation).isEmpty, "TIDEGAUGE_SEED=\(seed)")
        #expect(RankedTree.checkReferences(from: [publication.last.tree]) == nil)
    }

    /// Follows the tree by change sets until the end.
    /// - Returns: the first problem, or nil.
    private static func follow(_ publication: Publication) -> String? {
        var reported = publication.last.tree
        var ids = reported.ids(in: 0..<reported.count)
        while true {
            let (tree, isOver) = publication.last
            let changes = ChangeSet.between(reported, tree)
            let problem = ChangeSetReplay.apply(changes, to: &ids) { $0 < tree.count ? tree.id(at: $0) : nil }
            if let problem { return problem }
            if ids != tree.ids(in: 0..<tree.count) { return "after \(changes): \(ids)" }
            reported = tree
            if isOver && tree.isIdentical(to: publication.last.tree) { return nil }
        }
    }
}
