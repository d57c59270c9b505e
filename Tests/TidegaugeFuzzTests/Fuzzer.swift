// Inputs that nobody has thought of: what is known to be good, changed at random, over and over. What comes to an outcome of a
// new kind is kept, and changed further: a poor man's coverage, which needs no build of its own. An input that ends the process is
// left in a file.
//
// A run of the tests tries a number of inputs, whatever the machine's pace; `make fuzz` as many as there is time for.
import Foundation
import StillingWellSeededRandom
import Testing

struct Fuzzer {
    /// As of `make fuzz SECONDS=`; nil in a run of the tests.
    private static let seconds = ProcessInfo.processInfo.environment["FUZZ_SECONDS"].flatMap { Double($0) }
    private static let mostKept = 4_000
    private static let mostBytes = 1 << 16
    /// What breaks arithmetic.
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

    /// Has `body` take inputs; it says of what kind the outcome was, and records what is wrong.
    /// - Parameter count: how many, in a run of the tests.
    mutating func run(_ count: Int, _ body: ([UInt8]) throws -> String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("stillingwell-fuzz-\(name)")
        let last = try LastInput(file.path, most: Self.mostBytes)
        let until = Self.seconds.map { Date(timeIntervalSinceNow: $0) }
        var tried = 0
        for input in kept { seen.insert(try body(input)) }
        while until.map({ $0 > Date() }) ?? (tried < count) {
            let input = change(kept[random.below(kept.count)])
            last.set(input)
            tried += 1
            let outcome = try body(input)
            guard kept.count < Self.mostKept, seen.insert(outcome).inserted else { continue }
            kept.append(input)
        }
        print("fuzz \(name): \(tried) inputs, \(seen.count) kinds of outcomes, TIDEGAUGE_SEED=\(seed)")
        try FileManager.default.removeItem(at: file)
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
        switch random.below(9) {
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
            // Another number in the place of one.
            guard let first = bytes[place...].firstIndex(where: { (0x30...0x39).contains($0) }) else { return }
            let after = bytes[first...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.count
            let value = random.below(3) == 0 ? random.next() : Self.extremes[random.below(Self.extremes.count)]
            bytes.replaceSubrange(first..<after, with: Array("\(value)".utf8))
        }
    }
}

/// The input that is being tried, in a file that outlives the process. One thread.
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

    /// Eight bytes of length, then the input.
    func set(_ input: [UInt8]) {
        base.storeBytes(of: UInt64(input.count), as: UInt64.self)
        input.withUnsafeBytes {
            if let start = $0.baseAddress { (base + 8).copyMemory(from: start, byteCount: $0.count) }
        }
    }
}

/// The kind of an error: its text without numbers and without what is quoted from the input.
func kind(of error: Any) -> String {
    String(
        "\(error)".prefix(400).split(separator: "'").enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined()
            .filter { !$0.isNumber })
}
