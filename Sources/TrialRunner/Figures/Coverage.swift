// Which callback covers which commit: the first one whose version reaches the commit's. Every affecting commit counts,
// however many arrive in one callback; one sample per callback would under-weight waiting.
import Measure

enum Coverage {
    /// Calls `body` for each affecting commit, in the order of versions, with the index of the covering callback or nil.
    /// O(commits + callbacks).
    /// - Parameters:
    ///   - versions: of the callbacks, in the order they came. One that goes back covers nothing new.
    static func forEach(
        commitVersions: some Sequence<Int64>, callbackCount: Int, callbackVersion: (Int) -> Int64,
        _ body: (_ commit: Int, _ callback: Int?) -> Void
    ) {
        var callback = 0
        for (commit, version) in commitVersions.enumerated() {
            while callback < callbackCount, callbackVersion(callback) < version { callback += 1 }
            body(commit, callback < callbackCount ? callback : nil)
        }
    }
}
