// Runs the script of one actor. It makes a new writer for each commit.
import TidegaugeDriver
import TidegaugeSpec

struct ActorScript: Sendable {
    let test: InterleavingTest
    /// The actor that the script belongs to, also in a block that runs on another actor's delivery context.
    let actor: String

    /// Runs steps as one unit of the actor's work.
    func perform(_ steps: [InterleavingSpec.Step], at site: String?) {
        test.begin(actor)
        run(steps, site)
        test.end(actor)
    }

    /// - Parameter site: the actor on whose delivery context the steps run; nil on a thread without one.
    private func run(_ steps: [InterleavingSpec.Step], _ site: String?, mayFail: Bool = false) {
        for step in steps {
            do {
                try run(step, site)
            } catch {
                if !mayFail { test.complain("'\(actor)': \(error)") }
                return
            }
            test.didStep()
        }
    }

    private func run(_ step: InterleavingSpec.Step, _ site: String?) throws {
        switch step {
        case .commit(let count): for _ in 0..<count { try commit {} }
        case .hold(let inner): try commit { run(inner, site) }
        case .subscribe(let name, let count, let initial, let update):
            for number in 0..<count {
                try subscribe(name, initial, update, at: site, to: number == 0 ? Self.everything : Self.changed)
            }
        case .cancel(let name): for subscription in test.remove(name) { subscription.cancel() }
        case .requery(let name):
            for subscription in test.remove(name) { subscription.cancel() }
            try subscribe(name, [], [], at: site, to: Query(scores: 0..<Int64.max, order: .scoreDescending))
        case .covered(let name): test.awaitCovered(name)
        case .beginWrite: try callable().call(.beginWrite, at: try here(site)) {}
        case .refresh: try callable().call(.refresh, at: try here(site)) {}
        case .read(let inner): try test.store.conforming(to: (any TransactionalReading).self).read { run(inner, site) }
        case .writeLater(let inner):
            let store = try test.store.conforming(to: (any AsynchronousWriting).self)
            // The actor counts as active until the inner steps have run in the write.
            test.begin(actor)
            try store.writeLater([test.nextChange()], at: try here(site)) { [self] in
                run(inner, site)
                test.end(actor)
            }
        case .close: try test.store.close()
        case .barrier(let point): test.arrive(at: point, as: actor)
        case .blocked(let other): test.awaitBlocked(other)
        case .lock(let name, let inner): test.mutex(name).withLock { run(inner, site) }
        case .sync(let other, let inner): test.site(other).performAndWait { [self] in perform(inner, at: other) }
        case .async(let other, let inner):
            test.begin(actor)
            test.site(other).perform { [self] in
                run(inner, other)
                test.end(actor)
            }
        case .refusable(let inner): run(inner, site, mayFail: true)
        case .times(let count, let inner): for _ in 0..<count { run(inner, site) }
        }
    }

    private func callable() throws -> any CallableOnSite { try test.store.conforming(to: (any CallableOnSite).self) }

    private static let everything = Query(order: .scoreAscending)
    private static let changed = Query(scores: InterleavingTest.changedScore..<Int64.max, order: .scoreDescending)

    private func commit(_ locked: () -> Void) throws {
        let change = test.nextChange()
        let writer = try test.store.makeWriter()
        let version = try [change].withUnsafeBufferPointer { try writer.commit($0, locked: locked) }
        test.didCommit(version)
    }

    private func subscribe(
        _ name: String, _ initial: [InterleavingSpec.Step], _ update: [InterleavingSpec.Step], at site: String?,
        to query: Query
    ) throws {
        let sink = ScriptedSubscription(
            test, site ?? "", query, initial: { perform(initial, at: site) }, update: { perform(update, at: site) })
        // Added before `subscribe`: the engine may call the sink at once, and its steps may look the subscription up.
        test.add(sink, as: name)
        sink.subscription = try test.store.subscribe(to: query, at: try here(site), sink: sink)
    }

    private func here(_ site: String?) throws -> DeliverySite {
        guard let site else {
            throw DriverUnavailable(
                "'\(actor)' is no delivery context: write 'runs_on: run-loop' or 'runs_on: queue'")
        }
        return test.site(site).deliverySite
    }
}
