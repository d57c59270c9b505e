// A run: makes the stores, damages copies, opens each in a child process, two at a time, and counts outcomes.
//
// `state` guards the tally, the number of the next copy and a failure.
import Foundation
import StillingWellSeededRandom
import Synchronization

final class DamageRun: Sendable {
    private let seed: UInt64
    private let keep: String?

    init(seed: UInt64, keep: String?) { (self.seed, self.keep) = (seed, keep) }

    /// - Parameter copies: numbers of the copies. The number and the seed decide the damage to a copy.
    func run(_ copies: Range<Int>) throws -> DamageTally {
        let folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask,
            appropriateFor: URL(fileURLWithPath: NSTemporaryDirectory()),
            create: true
        ).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let stores = try StoreKind.allCases.map { try make($0, in: folder) }
        let state = Mutex((tally: DamageTally(), next: copies.lowerBound, failure: (any Error)?.none))
        DispatchQueue.concurrentPerform(iterations: 2) { worker in
            while let copy = state.withLock({ state -> Int? in
                guard state.next < copies.upperBound, state.failure == nil else { return nil }
                defer { state.next += 1 }
                return state.next
            }) {
                do {
                    let outcome = try self.outcome(of: copy, stores, "\(folder)/copy-\(worker)")
                    state.withLock { $0.tally.note(outcome) }
                } catch {
                    state.withLock { $0.failure = error }
                }
            }
        }
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.tally
        }
    }

    struct NotWhole: Error, CustomStringConvertible {
        let description: String
    }

    private func make(_ kind: StoreKind, in folder: String) throws -> GoodStore {
        let path = "\(folder)/\(kind)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var store = try GoodStore(kind, in: path, seed: seed)
        let ran = try Child.run(path, kind)
        store.answers = ran.answers
        guard ran.end == .exited, ran.answers.isOver, !ran.answers.isNoticed else {
            throw NotWhole(description: "\(kind) is not whole before it is damaged: \(ran.answers.lines) \(ran.errors)")
        }
        return store
    }

    private func outcome(of number: Int, _ stores: [GoodStore], _ path: String) throws -> DamagedCopy {
        var random = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(number))
        let store = stores[random.below(stores.count)]
        var copy = Copy(store)
        // A data file without `durable.mdb` is a valid store as well.
        if random.below(2) == 0 { copy.sidecars[GoodStore.durableName] = store.durable }
        let injury = Injury.injure(&copy, &random)
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, data) in copy.sidecars { try data.write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
        try copy.data.write(to: URL(fileURLWithPath: "\(path)/\(GoodStore.dataName)"))
        let ran = try Child.run(path, store.kind)
        let damaged = DamagedCopy(
            number: number, kind: store.kind, injury: injury, ran, whole: store.answers, path: path)
        if let keep, damaged.outcome.isBad || damaged.outcome == .verified {
            let kept = "\(keep)/\(number)"
            try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
            try copy.data.write(to: URL(fileURLWithPath: "\(kept)/\(GoodStore.dataName)"))
            try Data("\(damaged.text)\n".utf8).write(to: URL(fileURLWithPath: "\(kept).txt"))
        }
        return damaged
    }
}
