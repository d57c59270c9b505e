// Builds a commit and keeps its binary and scenario files, or the worktree of an engine of another language. A build
// is kept under `.build-compare`, by commit and a hash of how it is built. The paths of both sides have the same
// length, because the length changes the environment and thus measurements.
import Foundation
import TidegaugeRun

struct CommitBuild {
    static let folderName = ".build-compare"

    let repository: Repository
    let interruption: Interruption
    /// Reports long operations to people.
    let note: (String) -> Void

    struct Built {
        var revision: Revision
        var executable: String
        var scenarios: String
    }

    /// Builds a product of a Swift package.
    /// - Throws: `ShellFailure`, or the error of a file operation.
    func build(_ revision: Revision, product: String, configuration: String) throws -> Built {
        let compiler = try Shell.output(["swift", "--version"], in: repository.root)
        let folder = folder(revision, key: compiler + product + configuration)
        let built = Built(revision: revision, executable: "\(folder)/\(product)", scenarios: "\(folder)/Scenarios")
        if FileManager.default.isExecutableFile(atPath: built.executable) { return built }
        let startTime = Date()
        let source = try checkOut(revision, in: folder)
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

    /// Runs a command of the shell in a worktree of the commit, which is kept.
    /// - Returns: the worktree.
    /// - Throws: `ShellFailure`, or the error of a file operation.
    func build(_ revision: Revision, by command: String) throws -> String {
        let folder = folder(revision, key: command)
        // Written last, so that a folder with it is complete.
        let mark = "\(folder)/built"
        let files = FileManager.default
        if files.fileExists(atPath: mark), files.fileExists(atPath: "\(folder)/src") { return "\(folder)/src" }
        let startTime = Date()
        let source = try checkOut(revision, in: folder)
        try Shell.run(
            ["/bin/sh", "-c", command], in: source, log: "\(folder)/build.log", interruption,
            named: "--build '\(command)' of \(revision.title)", lastLines: 10)
        try Data().write(to: URL(fileURLWithPath: mark))
        note("built \(revision.title) in \(Int(Date().timeIntervalSince(startTime))) s")
        return source
    }

    /// - Parameter key: text that distinguishes builds of one commit.
    private func folder(_ revision: Revision, key: String) -> String {
        var hash: UInt32 = 2_166_136_261
        for byte in key.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let name = "\(revision.commit.prefix(12))-\(String(format: "%08x", hash))"
        return "\(repository.root)/\(Self.folderName)/\(name)"
    }

    /// Makes a new worktree of the commit.
    private func checkOut(_ revision: Revision, in folder: String) throws -> String {
        note("building \(revision.title); the build is kept")
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A `.gitignore`, so that git does not take builds for changes of the working tree.
        let ignored = "\(repository.root)/\(Self.folderName)/.gitignore"
        if !files.fileExists(atPath: ignored) { try Data("*\n".utf8).write(to: URL(fileURLWithPath: ignored)) }
        let source = "\(folder)/src"
        _ = try? repository.git(["worktree", "remove", "--force", source])
        try? files.removeItem(atPath: source)
        try repository.git(["worktree", "prune"])
        try repository.git(["worktree", "add", "--force", "--detach", source, revision.commit])
        return source
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
