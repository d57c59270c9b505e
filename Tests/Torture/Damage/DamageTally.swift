// Outcomes of the copies, and their counts.
import Foundation

/// Outcome for the process that opened a damaged copy, from best to worst.
enum DamageOutcome: String, CaseIterable {
    /// Every answer equals that of the undamaged store, except perhaps those of `Store.verify`.
    case fine
    /// Some answers are errors, and the others are right.
    case error = "clean error"
    /// A getter, which cannot throw, ended the process with a message that names the store.
    case stopped = "stopped by a text"
    /// Some answer was wrong, and another was an error.
    case noticed = "wrong, with error"
    /// Some answer was wrong, and only `Store.verify` found damage.
    case verified = "wrong, verify told"
    case unnoticed = "wrong, unnoticed"
    case crash, hang

    var isBad: Bool { self == .unnoticed || self == .crash || self == .hang }
}

struct DamagedCopy {
    let number: Int
    let kind: StoreKind
    let injury: String
    let outcome: DamageOutcome
    private let details: String

    /// - Parameter path: folder of the copy. The message of a stopped child has to contain it.
    init(
        number: Int, kind: StoreKind, injury: String, _ ran: (end: Child.End, answers: Answers, errors: String),
        whole: Answers, path: String
    ) {
        (self.number, self.kind, self.injury) = (number, kind, injury)
        let wrong = ran.answers.wrong(beside: whole)
        switch ran.end {
        case .hung: outcome = .hang
        case .crashed
        where !ran.answers.isStopped || !ran.errors.contains("Fatal error: ") || !ran.errors.contains(path):
            outcome = .crash
        case .crashed where wrong.isEmpty: outcome = .stopped
        case .crashed: outcome = ran.answers.hasErrors ? .noticed : ran.answers.isNoticed ? .verified : .unnoticed
        case .exited where !ran.answers.isOver: outcome = .crash
        case .exited where !wrong.isEmpty:
            outcome = ran.answers.hasErrors ? .noticed : ran.answers.isNoticed ? .verified : .unnoticed
        case .exited: outcome = ran.answers.hasErrors ? .error : .fine
        }
        details = "\(ran.end), wrong: \(wrong), \(ran.errors.suffix(600))"
    }

    var text: String { "\(outcome.rawValue): copy \(number) of \(kind), \(injury): \(details)" }
}

struct DamageTally {
    /// Copies with unnoticed wrong answers allowed per 1,000: a page that was valid some commits ago can cause one.
    static let unnoticedPerThousand = 1

    private var counts: [DamageOutcome: Int] = [:]
    private var bad: [DamagedCopy] = []

    mutating func note(_ copy: DamagedCopy) {
        counts[copy.outcome, default: 0] += 1
        if copy.outcome.isBad { bad.append(copy) }
    }

    private var total: Int { counts.values.reduce(0, +) }

    var isClean: Bool {
        counts[.crash] == nil && counts[.hang] == nil
            && (counts[.unnoticed] ?? 0) * 1_000 <= Self.unnoticedPerThousand * total
    }

    var text: String {
        let lines = DamageOutcome.allCases.map {
            "\($0.rawValue)".padding(toLength: 19, withPad: " ", startingAt: 0) + " " + "\(counts[$0] ?? 0)"
        }
        return (bad.sorted { $0.number < $1.number }.map(\.text) + lines).joined(separator: "\n")
    }
}
