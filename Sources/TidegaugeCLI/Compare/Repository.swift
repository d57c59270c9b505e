// The repository whose commits are compared. Reads it, and adds one thing: a commit that no branch holds, for what the
// working tree has beyond the last one.
import Foundation
import TidegaugeMeasure

/// A commit to build.
struct Revision {
    /// As it was asked for.
    var name: String
    var commit: String
    /// The working tree, with what is not committed in it.
    var isDirty = false

    /// `HEAD~1 (0e0d5a912815)`; a commit that was asked for by its hash has no other name.
    var title: String { name == commit ? "\(commit.prefix(12))" : "\(name) (\(commit.prefix(12)))" }
}

struct Repository {
    let root: String

    /// - Throws: `ShellFailure` where `folder` is in no repository.
    init(containing folder: String = ".") throws {
        guard Subprocess.find("git") != nil else {
            throw ShellFailure(
                description: "git is not installed, and commits are read by it: install git, or name two binaries")
        }
        do {
            root = try Shell.output(["git", "rev-parse", "--show-toplevel"], in: folder)
        } catch {
            throw ShellFailure(
                description:
                    "commits are compared within their repository: run it there, or name two binaries (\(error))")
        }
    }

    /// - Throws: `ShellFailure` where `name` is no commit.
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

    /// What the working tree holds: the last commit, or a snapshot that stands on it. Neither index nor branch is touched;
    /// the same files always make the same snapshot.
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
