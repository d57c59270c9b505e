// The command `power-cut`: records a store's writes, cuts the power at many steps, and opens possible images.
import ArgumentParser
import CStillingWellWriteRecorder
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellTortureSupport

public struct PowerCut: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "power-cut",
        abstract: "What becomes of a store whose machine goes down, or whose disk fails.",
        subcommands: [
            ImagesCommand.self, FailedFlushCommand.self, KilledFlushCommand.self, FullMapCommand.self,
        ],
        defaultSubcommand: ImagesCommand.self)

    public init() {}
}

struct ImagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "images",
        abstract: "Opens stores as a power cut may leave them: with all flushed writes and any part of the later ones.",
        discussion: "Exits with 1 when an image is not whole, or lacks a commit that had to survive.")

    @Option(help: "How many images to open.")
    var images = 300

    @OptionGroup var seed: SeedOption

    @Option(help: "Durability of commits: full or relaxed.")
    var durability = Durability.full

    @Option(help: "Commits of each writer of a recording.")
    var commits = 30

    @Option(help: "Images made of one recording.")
    var perRecording = 250

    @Option(help: "Killed processes: some at any step, one as its flush ends, or one as it names a new store's files.")
    var script = Recording.Script.anywhere

    func validate() throws {
        if durability == .memory { throw ValidationError("--durability memory survives nothing: give full or relaxed") }
        if images < 1 || commits < 1 || perRecording < 1 { throw ValidationError("give numbers above 0") }
    }

    func run() throws {
        let seed = seed.value
        guard wr_reserve(1 << 31) else { refuse("there is no address space for a journal of 2 GB") }
        let root = try ScratchFolder.make()
        defer { try? FileManager.default.removeItem(atPath: root) }
        var tally = Tally()
        var left = images
        var number: UInt64 = 0
        while left > 0 {
            let count = min(left, perRecording)
            try cut(count, seed: seed &+ number, root, &tally)
            left -= count
            number += 1
        }
        print("seed \(seed): \(images) images, \(durability.rawValue): \(tally.text)")
        if !tally.isClean { throw ExitCode(1) }
    }

    /// Makes a recording and `count` images of it.
    private func cut(_ count: Int, seed: UInt64, _ root: String, _ tally: inout Tally) throws {
        var random = SeededRandom(seed: seed)
        let recording = Recording(seed: seed, durability: durability, commits: commits, folder: "\(root)/store")
        try FileManager.default.createDirectory(atPath: recording.folder, withIntermediateDirectories: true)
        recording.run(script)
        let journal = Journal()
        let history = History(journal, seed: seed)
        var disk = Disk()
        var range = AllowedCommits(durability)
        var done = 0
        for place in places(count, journal, &random) {
            while done < place {
                range.note(journal.steps[done])
                disk.advance(journal.steps[done])
                done += 1
            }
            let part = Disk.Part.allCases.randomElement(using: &random)!
            let path = "\(root)/image"
            try disk.write(to: path, part, &random)
            var configuration = recording.configuration()
            configuration.path = path
            configuration.flushes.boot = BootID(high: 1, low: 1)
            let outcome = ImageCheck(configuration: configuration, history: history, allowed: range.allowed).run()
            tally.note(outcome, "seed \(seed), step \(place) of \(journal.steps.count), \(part)")
        }
        try FileManager.default.removeItem(atPath: recording.folder)
    }

    /// Returns the steps before which the power fails, in ascending order.
    private func places(_ count: Int, _ journal: Journal, _ random: inout SeededRandom) -> [Int] {
        // At the end of this recording, other threads' writes during the last flush are not flushed yet.
        if script == .killedAtMark { return Array(repeating: journal.steps.count, count: count) }
        let flushes = journal.steps.indices.filter { journal.steps[$0].isFlush }
        return (0..<count).map { index in
            guard index.isMultiple(of: 2), !flushes.isEmpty else { return random.below(journal.steps.count + 1) }
            return flushes[random.below(flushes.count)] + random.below(2)
        }.sorted()
    }
}

/// Range of commits that an image may be at.
struct AllowedCommits {
    private let durability: Durability
    private var least = 0
    private var most = 0

    init(_ durability: Durability) { self.durability = durability }

    var allowed: ClosedRange<Int> { least...most }

    mutating func note(_ step: Step) {
        switch step {
        case .note(.begins(let count, writer: _, step: _)): most = max(most, count)
        case .note(.acknowledged(let count)): if durability == .full { least = max(least, count) }
        case .note(.synchronized(let count)): least = max(least, count)
        case .link, .write, .truncate, .flushBegin, .flushEnd, .rename, .unlink: return
        }
    }
}

struct Tally {
    private static let mostShown = 10
    private var counts: [String: Int] = [:]
    private var shown = 0

    var isClean: Bool { counts.keys.allSatisfy { $0 == "whole" } }
    var text: String { counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ") }

    mutating func note(_ outcome: ImageCheck.Outcome, _ place: String) {
        let (name, message): (String, String) =
            switch outcome {
            case .whole: ("whole", "")
            case .refused(let message): ("refused", message)
            case .wrong(let message): ("wrong", message)
            case .crashed(let signal): ("crashed", "signal \(signal)")
            case .hung: ("hung", "")
            }
        counts[name, default: 0] += 1
        guard outcome != .whole, shown < Self.mostShown else { return }
        shown += 1
        print("\(name): \(place): \(message)")
    }
}

extension Recording.Script: ExpressibleByArgument {}
