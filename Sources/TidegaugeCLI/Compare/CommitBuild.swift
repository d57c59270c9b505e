// Builds a commit and keeps its binary and scenario files. Each commit is built once, in a worktree under
// `.build-compare`, with the same flags and a path of the same length as every other (the length changes the
// environment and thus measurements).
import Foundation
import TidegaugeRun

struct CommitBuild {
    static let folderName = ".build-compare"

    let repository: Repository
    let product: String
    let configuration: String
    let interruption: Interruption
    /// Reports long operations to people.
    let note: (String) -> Void

    struct Built {
        var revision: Revision
        var executable: String
        var scenarios: String
    }

    /// - Throws: `ShellFailure` if the build fails.
    func build(_ revision: Revision) throws -> Built {
        let folder = "\(repository.root)/\(Self.folderName)/\(revision.commit.prefix(12))-\(try key())"
        let built = Built(revision: revision, executable: "\(folder)/\(product)", scenarios: "\(folder)/Scenarios")
        if FileManager.default.isExecutableFile(atPath: built.executable) { return built }
        let startTime = Date()
        note("building \(revision.title); the build is kept")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let source = "\(folder)/src"
        _ = try? repository.git(["worktree", "remove", "--force", source])
        try? FileManager.default.removeItem(atPath: source)
        try repository.git(["worktree", "prune"])
        try repository.git(["worktree", "add", "--force", "--detach", source, revision.commit])
        defer { _ = try? repository.git(["worktree", "remove", "--force", source]) }
        try sameDependencies(source)
        let scratch = "\(folder)/build"
        // The scratch folder is kept after an interrupt or failure, so that the next attempt continues.
        let command = ["swift", "build", "-c", configuration, "--product", product]
        let places = ["--package-path", source, "--scratch-path", scratch]
        try Shell.run(command + places, in: source, log: "\(folder)/build.log", interruption)
        try keep(built, source, "\(scratch)/\(configuration)/\(product)")
        try FileManager.default.removeItem(atPath: scratch)
        note("built \(revision.title) in \(Int(Date().timeIntervalSince(startTime))) s")
        return built
    }

    /// Hash of everything that makes two builds of one commit differ.
    private func key() throws -> String {
        let compiler = try Shell.output(["swift", "--version"], in: repository.root)
        var hash: UInt32 = 2_166_136_261
        for byte in (compiler + product + configuration).utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return String(format: "%08x", hash)
    }

    /// Uses this working tree's resolved versions for both sides, unless the commit has its own, so that they do not
    /// differ.
    private func sameDependencies(_ source: String) throws {
        let resolved = "\(repository.root)/Package.resolved"
        let files = FileManager.default
        guard files.fileExists(atPath: resolved), !files.fileExists(atPath: "\(source)/Package.resolved") else {
            return
        }
        try files.copyItem(atPath: resolved, toPath: "\(source)/Package.resolved")
    }

    /// Moves the binary last, so that a folder with a binary is complete.
    private func keep(_ built: Built, _ source: String, _ product: String) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: built.scenarios)
        if files.fileExists(atPath: "\(source)/Scenarios") {
            try files.copyItem(atPath: "\(source)/Scenarios", toPath: built.scenarios)
        }
        let new = built.executable + ".new"
        try? files.removeItem(atPath: new)
        try files.copyItem(atPath: product, toPath: new)
        try files.moveItem(atPath: new, toPath: built.executable)
    }
}
