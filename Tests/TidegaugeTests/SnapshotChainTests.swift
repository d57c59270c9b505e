// Tests of the order of commits derived from snapshots, with simulated servers. Transactions begin and commit in any
// order, and snapshots are taken at times.
import StillingWellSeededRandom
import Testing

@testable import TidegaugePostgresDriver

@Suite struct SnapshotChainTests {
    /// A primary: its running transactions, and the order of its commits.
    private struct Primary {
        var next: Int64 = 700
        var running: Set<Int64> = []
        var committed: [Int64] = []

        mutating func begin() {
            running.insert(next)
            next += 1
        }

        mutating func commit(_ random: inout SeededRandom) {
            guard let one = running.sorted().randomElement(using: &random) else { return }
            running.remove(one)
            committed.append(one)
        }

        var snapshot: String {
            let waiting = running.sorted()
            return "\(waiting.first ?? next):\(next):\(waiting.map { "\($0)" }.joined(separator: ","))"
        }
    }

    @Test(arguments: seeds(50)) func versionsAreWhatEachSnapshotSees(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var primary = Primary()
        var shown: [(snapshot: PostgresSnapshot, commits: Set<Int64>)] = []
        for _ in 0..<200 {
            switch random.below(5) {
            case 0, 1: primary.begin()
            case 2, 3: primary.commit(&random)
            default:
                let snapshot = try #require(PostgresSnapshot(primary.snapshot))
                shown.append((snapshot, Set(primary.committed)))
            }
        }
        // Deliveries of several processes are unordered.
        shown.shuffle(using: &random)
        let chain = SnapshotChain(primary.committed, shown.map(\.snapshot))
        #expect(chain.problem == nil, "seed \(seed)")
        #expect(chain.commits.sorted() == primary.committed.sorted(), "seed \(seed)")
        for (index, one) in shown.enumerated() {
            #expect(chain.seen[index] == one.commits.count, "seed \(seed), snapshot \(index)")
            #expect(Set(chain.commits.prefix(chain.seen[index])) == one.commits, "seed \(seed), snapshot \(index)")
            for commit in primary.committed {
                let isSeen = one.snapshot.sees(commit)
                #expect(isSeen == one.commits.contains(commit), "seed \(seed), transaction \(commit)")
            }
        }
    }

    /// A snapshot taken after the order was determined has the place up to which it sees every commit.
    @Test(arguments: seeds(20)) func aSnapshotThatIsNotYetRankedClaimsNoMoreThanItSees(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var primary = Primary()
        let shown = ShownSnapshots()
        for _ in 0..<60 {
            primary.begin()
            if random.below(2) == 0 { primary.commit(&random) }
        }
        let commits = primary.committed
        let token = shown.add(try #require(PostgresSnapshot(primary.snapshot)))
        for _ in 0..<10 { primary.commit(&random) }
        let all = primary.committed.shuffled(using: &random)
        let standing = Int(shown.standing(token, behind: all))
        #expect(all.prefix(standing).allSatisfy(commits.contains), "seed \(seed)")
    }

    /// Two states of which neither contains the other. One primary never shows these.
    @Test func aForkIsFound() throws {
        let left = try #require(PostgresSnapshot("10:12:10"))
        let right = try #require(PostgresSnapshot("11:12:11"))
        let chain = SnapshotChain([10, 11], [left, right])
        #expect(chain.problem?.hasPrefix("long fork: transaction 11") == true, "\(chain.problem ?? "none")")
        #expect(SnapshotChain([10, 11], [left, left]).problem == nil)
    }

    /// Snapshots of two processes give one order, finer than either gives alone.
    @Test func snapshotsOfAnotherProcessBelongToTheChain() throws {
        let (here, there) = (ShownSnapshots(), ShownSnapshots())
        _ = here.add(try #require(PostgresSnapshot("10:10:")))
        let late = here.add(try #require(PostgresSnapshot("13:13:")))
        let early = there.add(try #require(PostgresSnapshot("10:13:10,11")))
        #expect(try here.order(ofCommits: [10, 11, 12]).versions == [10: 1, 11: 2, 12: 3])
        let order = try here.order(ofCommits: [10, 11, 12], alsoShown: [try there.shown()])
        #expect(order.versions == [12: 1, 10: 2, 11: 3] && order.problem == nil)
        #expect(order.standing(late) == 3 && order.standingElsewhere.map { $0(early) } == [1])
        // A snapshot taken after the order was determined.
        #expect(order.standing(here.add(try #require(PostgresSnapshot("11:13:11")))) == 2)
    }

    @Test(arguments: ["", "1", "1:2", "a:b:", "1:b:"]) func whatIsNoSnapshotIsNone(_ text: String) {
        #expect(PostgresSnapshot(text) == nil)
    }
}
