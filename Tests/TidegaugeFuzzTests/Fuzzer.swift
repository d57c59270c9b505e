// Random changes of valid inputs. An input with a new kind of outcome is kept and changed further. That replaces the
// coverage of an instrumented build. An input that ends the process remains in a file.
//
// A test run tries a fixed number of inputs. `make fuzz` tries for a time (`SECONDS=`) or a number (`INPUTS=`).
import Foundation
import StillingWellSeededRandom
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

struct Fuzzer {
    /// Seconds for each target, of `make fuzz SECONDS=`. Nil in a run of the tests.
    private static let seconds = ProcessInfo.processInfo.environment["FUZZ_SECONDS"].flatMap { Double($0) }
    /// Inputs for each target, of `make fuzz INPUTS=`. Nil in a run of the tests.
    private static let inputs = ProcessInfo.processInfo.environment["FUZZ_INPUTS"].flatMap { Int($0) }
    private static let mostKept = 4_000
    private static let mostBytes = 1 << 16
    /// Numbers that are likely to break conversions to integers and sums.
    private static let extremeTexts = ["-1", "0.5", "-1e-9", "5e-324", "1e10", "1e19", "-1e19", "1e308", "-1e308"]
    /// Numbers that are likely to break arithmetic of integers.
    private static let extremes: [UInt64] = [
        0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000, .max - 7, .max,
    ]

    private let name: String
    /// Words that an input may hold.
    private let words: [[UInt8]]
    private var kept: [[UInt8]]
    private var seen: Set<String> = []
    private var random: SeededRandom
    private let seed: UInt64

    /// - Parameter good: inputs to begin with, besides those of the corpus.
    init(_ name: String, seed: UInt64, words: [String] = [], good: [[UInt8]]) throws {
        self.name = name
        self.seed = seed
        self.words = words.map { Array($0.utf8) }
        random = SeededRandom(seed: seed)
        kept = good + (try Self.corpus(name))
    }

    private static func corpus(_ name: String) throws -> [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Corpus/\(name)")
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return [] }
        return try names.sorted().map { Array(try Data(contentsOf: folder.appendingPathComponent($0))) }
    }

    /// Passes inputs to `body`, which returns the kind of the outcome and records problems.
    /// - Parameter count: number of changed inputs in a run of the tests.
    mutating func run(_ count: Int, _ body: ([UInt8]) throws -> String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("stillingwell-fuzz-\(name)")
        let last = try LastInput(file.path, most: Self.mostBytes)
        // Other tests in the process use memory too.
        let isAlone = Self.seconds != nil || Self.inputs != nil
        var meter = InputMeter("fuzz \(name), TIDEGAUGE_SEED=\(seed)", file.path, checksMemory: isAlone)
        defer { meter.end() }
        let until = Self.seconds.map { Date(timeIntervalSinceNow: $0) }
        let most = Self.inputs ?? (until == nil ? count : .max)
        var tried = 0
        for input in kept {
            last.set(input)
            seen.insert(try meter.measure { try body(input) })
        }
        while tried < most, until.map({ $0 > Date() }) ?? true, meter.excess == nil {
            let input = change(kept[random.below(kept.count)])
            last.set(input)
            tried += 1
            let outcome = try meter.measure { try body(input) }
            guard kept.count < Self.mostKept, seen.insert(outcome).inserted else { continue }
            kept.append(input)
        }
        print(
            "fuzz \(name): \(tried) inputs, \(seen.count) kinds of outcomes, \(meter.largestBytes >> 20) MiB resident at most, "
                + "slowest input \(meter.slowestNs / 1_000) µs of CPU, TIDEGAUGE_SEED=\(seed)")
        if let excess = meter.excess {
            Issue.record("\(excess)")
        } else {
            try FileManager.default.removeItem(at: file)
        }
    }

    // MARK: Changing

    private mutating func change(_ input: [UInt8]) -> [UInt8] {
        var bytes = input
        for _ in 0...random.below(4) { changeOnce(&bytes) }
        return Array(bytes.prefix(Self.mostBytes))
    }

    private mutating func changeOnce(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else {
            bytes = (0..<random.below(64)).map { _ in UInt8(random.below(256)) }
            return
        }
        let place = random.below(bytes.count)
        let end = min(bytes.count, place + 1 + random.below(16))
        switch random.below(11) {
        case 0: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1: bytes[place] = UInt8(random.below(256))
        case 2:
            let value = Self.extremes[random.below(Self.extremes.count)]
            for offset in 0..<(1 << random.below(4)) where place + offset < bytes.count {
                bytes[place + offset] = UInt8(truncatingIfNeeded: value >> UInt64(8 * offset))
            }
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: random.below(bytes.count + 1))
        case 5: bytes.removeSubrange(place...)
        case 6:
            let other = kept[random.below(kept.count)]
            guard !other.isEmpty else { return }
            let start = random.below(other.count)
            bytes.replaceSubrange(place..<end, with: other[start..<min(other.count, start + 1 + random.below(64))])
        case 7 where !words.isEmpty:
            bytes.replaceSubrange(
                random.below(2) == 0 ? place..<place : place..<end, with: words[random.below(words.count)])
        default:
            // Replaces a number by another one.
            guard let first = bytes[place...].firstIndex(where: { (0x30...0x39).contains($0) }) else { return }
            let after = bytes[first...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.count
            if random.below(3) == 0 {
                bytes.replaceSubrange(first..<after, with: random.one(of: Self.extremeTexts).utf8)
                return
            }
            let value = random.below(3) == 0 ? random.next() : Self.extremes[random.below(Self.extremes.count)]
            bytes.replaceSubrange(first..<after, with: Array("\(value)".utf8))
        }
    }
}

/// The current input, in a file that outlives the process. Used by one thread.
private final class LastInput {
    private let base: UnsafeMutableRawPointer
    private let file: Int32
    private let bytes: Int

    init(_ path: String, most: Int) throws {
        bytes = most
        file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0 && ftruncate(file, off_t(most + 8)) == 0, "cannot make \(path)")
        let map = mmap(nil, most + 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        base = try #require(map == MAP_FAILED ? nil : map)
    }

    deinit {
        munmap(base, bytes + 8)
        close(file)
    }

    /// Writes the length in eight bytes, then the input.
    func set(_ input: [UInt8]) {
        base.storeBytes(of: UInt64(input.count), as: UInt64.self)
        input.withUnsafeBytes {
            if let start = $0.baseAddress { (base + 8).copyMemory(from: start, byteCount: min($0.count, bytes)) }
        }
    }
}

/// The kind of an error: the first 400 characters of its text, without digits and without what stands from the first to
/// the last quote.
func kind(of error: Any) -> String {
    let parts = "\(error)".prefix(400).split(separator: "'", omittingEmptySubsequences: false)
    return String((parts[0] + (parts.count > 2 ? parts[parts.count - 1] : "")).filter { !$0.isNumber })
}

/// The kind of a refused file, by its first two problems. Checks that each message is one line.
func refusal(_ error: ScenarioErrors) -> String {
    #expect(!error.problems.isEmpty && error.problems.allSatisfy { !"\($0)".isEmpty })
    #expect(error.problems.allSatisfy { !$0.message.contains("\n") })
    return error.problems.prefix(2).map { kind(of: $0) }.joined()
}
