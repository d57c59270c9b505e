// One list of words, edited without end: the same edits from the same seed, made in a store commit by commit, or in an array.
import StillingWell

public struct WordEdits {
    private enum Edit {
        case insert(String, Int)
        case remove(Int)
        case move(Int, Int)
    }

    private static let perCommit = 12
    private let seed: UInt64

    public init(seed: UInt64) { self.seed = seed }

    /// The words after so many commits.
    public func words(after commits: Int) -> [String] {
        var words: [String] = []
        for commit in 0..<commits {
            for edit in edits(of: commit, words.count) {
                switch edit {
                case .insert(let word, let index): words.insert(word, at: index)
                case .remove(let index): words.remove(at: index)
                case .move(let from, let to): words.insert(words.remove(at: from), at: to)
                }
            }
        }
        return words
    }

    /// Makes the commit of a number.
    public func run(_ commit: Int, in store: Store) throws {
        try store.write { connection in
            let words = try Self.sample(connection).words
            for edit in edits(of: commit, words.count) {
                switch edit {
                case .insert(let word, let index): words.insert(word, at: index)
                case .remove(let index): words.remove(at: index)
                case .move(let from, let to): words.move(from: from, to: to)
                }
            }
        }
    }

    /// The words of a store.
    public static func words(_ connection: Connection) throws -> [String] {
        try connection.object(Sample.self, forPrimaryKey: "edited").map { Array($0.words) } ?? []
    }

    private static func sample(_ connection: Connection) throws -> Sample {
        if let sample = try connection.object(Sample.self, forPrimaryKey: "edited") { return sample }
        let sample = Sample()
        sample.name = "edited"
        try connection.add(sample)
        return sample
    }

    private func edits(of commit: Int, _ count: Int) -> [Edit] {
        var (state, count) = (seed &+ UInt64(commit) &* 0x9E37_79B9_7F4A_7C15, count)
        func number(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        // Long at once: most commits then change leaves here and there.
        if commit == 0 { return (0..<300).map { .insert("word \($0)", $0) } }
        return (0..<Self.perCommit).map { step in
            switch number(4) {
            case 0, 1:
                count += 1
                return .insert("commit \(commit) \(step)", number(count))
            case 2:
                count -= 1
                return .remove(number(count + 1))
            default: return .move(number(count), number(count))
            }
        }
    }
}
