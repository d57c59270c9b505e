// The repository of the compared commits. A comparison may add worktrees to it (`CommitBuild`), and an unreferenced
// commit with the uncommitted changes of the working tree.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure

/// A commit to build.
struct Revision {
    /// Name as given.
    var name: String
    var commit: String
    /// Whether it is the working tree with uncommitted changes.
    var isDirty = false

    /// Text such as `HEAD~1 (0e0d5a912815)`, or only the hash if the commit was named by it.
    var title: String { name == commit ? "\(commit.prefix(12))" : "\(name) (\(commit.prefix(12)))" }
}

struct Repository {
    let root: String

    /// - Throws: `ShellFailure` if `folder` is not in a repository, or git is not installed.
    init(containing folder: String = ".") throws {
        guard Subprocess.find("git") != nil else {
            throw ShellFailure(
                description: "git, which is needed for commits, is not installed: install it, or name two binaries")
        }
        do {
            root = try Shell.output(["git", "rev-parse", "--show-toplevel"], in: folder)
        } catch {
            throw ShellFailure(
                description:
                    "commits can be compared only in their repository: run it there, or name two binaries (\(error))")
        }
    }

    /// - Throws: `ShellFailure` if `name` is not a commit.
    func revision(_ name: String) throws -> Revision {
        do {
            return Revision(name: name, commit: try git(["rev-parse", "--verify", "--quiet", "\(name)^{commit}"]))
        } catch {
            let isShallow = (try? git(["rev-parse", "--is-shallow-repository"])) == "true"
            throw ShellFailure(
                description: "'\(name)' is no commit of \(root) and no binary"
                    + (isShallow
                        ? "; this clone is shallow and has the newest commits alone: git fetch --unshallow, or 'fetch-depth: 0' "
                            + "of actions/checkout, brings the others" : ""))
        }
    }

    /// Returns the content of the working tree: the last commit, or a snapshot commit on top of it. Does not change
    /// index or branches. Equal files on the same commit give equal snapshots.
    func workingTree() throws -> Revision {
        let head = try revision("HEAD")
        if try git(["status", "--porcelain"]).isEmpty { return head }
        let folder = try PrivateFolder()
        defer { folder.remove() }
        let own = ["GIT_INDEX_FILE": "\(folder.path)/index"]
        try git(["read-tree", "HEAD"], own)
        try git(["add", "--all"], own)
        let tree = try git(["write-tree"], own)
        let nobody = ["NAME": "tidegauge", "EMAIL": "tidegauge@localhost", "DATE": "@0 +0000"]
        var identity: [String: String] = [:]
        for (key, value) in nobody {
            identity["GIT_AUTHOR_\(key)"] = value
            identity["GIT_COMMITTER_\(key)"] = value
        }
        let commit = try git(["commit-tree", tree, "-p", head.commit, "-m", "working tree"], identity)
        return Revision(name: "working tree", commit: commit, isDirty: true)
    }

    func subject(of commit: String) -> String { (try? git(["log", "-1", "--format=%s", commit])) ?? "" }

    @discardableResult
    func git(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
        try Shell.output(["git"] + arguments, in: root, environment: environment)
    }
}
