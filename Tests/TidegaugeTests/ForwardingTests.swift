// Tests that forwarding stores pass on what they do not change, and have exactly the inner store's abilities.
import Foundation
import Testing
import TidegaugeDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrialRunner

/// Records the calls that it receives.
private class NotingStore: DrivenStore, @unchecked Sendable {
    var asked: [String] = []

    final class Writer: StoreWriter {
        func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? { 7 }
    }

    final class Nobody: DriverSubscription {
        func cancel() {}
        func currentItems() throws -> [Item] { [] }
    }

    required init() {}

    func load(count: Int, item: (Int) -> Item) throws { asked.append("load") }
    func makeWriter() throws -> any StoreWriter {
        asked.append("makeWriter")
        return Writer()
    }
    func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription {
        asked.append("subscribe")
        return Nobody()
    }
    func contents(of query: Query) throws -> [Item] {
        asked.append("contents")
        return []
    }
    func fileBytes() throws -> Int {
        asked.append("fileBytes")
        return 1
    }
    func close() throws { asked.append("close") }
}

// Stores with one ability each, so that none is mistaken for another.

private final class CalledStore: NotingStore, CallableOnSite, @unchecked Sendable {
    func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws { asked.append("call") }
}

private final class ReadStore: NotingStore, TransactionalReading, @unchecked Sendable {
    func read(_ body: () throws -> Void) throws { asked.append("read") }
}

private final class LateStore: NotingStore, AsynchronousWriting, @unchecked Sendable {
    func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        asked.append("writeLater")
    }
}

private final class PinnedStore: NotingStore, Pinning, HeldVersion, @unchecked Sendable {
    let version: Int64 = 0
    func pin() throws -> any HeldVersion {
        asked.append("pin")
        return self
    }
    func activeVersions() throws -> Int {
        asked.append("activeVersions")
        return 1
    }
}

private final class CompactStore: NotingStore, Compacting, @unchecked Sendable {
    func compactedBytes() throws -> Int {
        asked.append("compactedBytes")
        return 1
    }
}

private final class ForgettingStore: NotingStore, SiteForgetting, @unchecked Sendable {
    func forget(_ site: DeliverySite) throws { asked.append("forget") }
}

private final class FullStore: NotingStore, WholeRowStore, @unchecked Sendable {
    func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws { asked.append("forEachRow") }
}

private final class AskedStore: NotingStore, AnsweringStore, @unchecked Sendable {}

private final class TokenStore: NotingStore, LateVersions, @unchecked Sendable {
    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder {
        asked.append("order \(others.count)")
        return LateOrder(versions: [:], standing: { $0 })
    }
    func shown() -> Data {
        asked.append("shown")
        return Data([7])
    }
    func shows(delivery: Int64, commit: Int64) -> Bool {
        asked.append("shows")
        return delivery < commit
    }
}

private final class HarmedStore: NotingStore, HarmableServer, @unchecked Sendable {
    func restartServer() { asked.append("restart") }
    func cutObservers() { asked.append("cut") }
    func stopListener() -> AnyObject {
        asked.append("stop")
        return self
    }
    func commitLarge(rows: Int) { asked.append("large \(rows)") }
}

private final class ServingStore: NotingStore, ServedStore, @unchecked Sendable {
    func serverCPU() -> [String: Int64]? {
        asked.append("serverCPU")
        return ["all": 1]
    }
}

private final class CountedStore: NotingStore, WorkCounting, @unchecked Sendable {
    func counters() -> [String: Int] {
        asked.append("counters")
        return ["rows": 1]
    }
    func asleepElsewhereNs() -> Int64? {
        asked.append("asleep")
        return 1
    }
}

private final class ReachedStore: NotingStore, ReachableStore, @unchecked Sendable {
    var address: String {
        asked.append("address")
        return "there"
    }
    var secret: String? {
        asked.append("secret")
        return "word"
    }
    func obstacle(from place: ProcessPlace) -> String? {
        asked.append("obstacle")
        return place == .near ? nil : "far"
    }
}

private final class EmptyStore: NotingStore, RowlessStore, @unchecked Sendable {}

private final class NoSink: DeliverySink {
    func deliver(_ delivery: borrowing Delivery) {}
    func fail(_ error: any Error) {}
}

@Suite struct ForwardingTests {
    private static let stores: [(type: NotingStore.Type, ability: Ability?)] = [
        (NotingStore.self, nil), (CalledStore.self, .callableOnSite), (ReadStore.self, .transactionalReading),
        (LateStore.self, .asynchronousWriting), (PinnedStore.self, .pinning), (CompactStore.self, .compacting),
        (ForgettingStore.self, .siteForgetting), (FullStore.self, .wholeRows),
        (AskedStore.self, .answering), (TokenStore.self, .lateVersions), (ServingStore.self, .served),
        (CountedStore.self, .workCounting),
        (ReachedStore.self, .reachable), (HarmedStore.self, .harmableServer), (EmptyStore.self, .rowless),
    ]

    private static let wrappers: [(name: String, wrap: @Sendable (any DrivenStore) -> any DrivenStore)] = [
        ("nothing changed", { $0.forwarded() }),
        ("shim", { Shim("none")!.wrap($0) }),
        ("shim that lingers", { Shim("linger=2:1ms")!.wrap($0) }),
        ("slowdown", { InjectedFault(FaultSpec(kind: .slowdown, amount: 1)).wrap($0) }),
        ("loss", { InjectedFault(FaultSpec(kind: .loss, every: 2)).wrap($0) }),
        ("no fault", { InjectedFault(FaultSpec()).wrap($0) }),
        ("loss behind a shim", { InjectedFault(FaultSpec(kind: .loss, every: 2)).wrap(Shim("none")!.wrap($0)) }),
    ]

    @Test(arguments: wrappers.map(\.name))
    func everyRequestReachesTheStore(_ wrapper: String) throws {
        let store = NotingStore()
        let wrapped = Self.wrappers.first { $0.name == wrapper }!.wrap(store)
        try wrapped.load(count: 0) { Item(key: Int64($0), group: 0, score: 0, stamp: 0) }
        _ = try wrapped.makeWriter()
        _ = try wrapped.subscribe(to: Query(), at: .runLoop, sink: NoSink())
        _ = try wrapped.contents(of: Query())
        _ = try wrapped.fileBytes()
        try wrapped.close()
        #expect(store.asked == ["load", "makeWriter", "subscribe", "contents", "fileBytes", "close"])
    }

    @Test(arguments: wrappers.map(\.name))
    func everyAbilityIsKeptAndNoneIsMade(_ wrapper: String) throws {
        #expect(Set(Self.stores.compactMap(\.ability)) == Set(Ability.allCases), "each has a store here")
        for (type, ability) in Self.stores {
            let wrapped = Self.wrappers.first { $0.name == wrapper }!.wrap(type.init())
            let abilities = Ability.allCases.filter { $0.isHeld(by: Swift.type(of: wrapped)) }
            #expect(abilities == [ability].compactMap { $0 }, "\(type)")
        }
    }

    @Test(arguments: wrappers.map(\.name))
    func everyAbilityReachesTheStore(_ wrapper: String) throws {
        for (type, ability) in Self.stores {
            let store = type.init()
            let wrapped = Self.wrappers.first { $0.name == wrapper }!.wrap(store)
            switch ability {
            case nil, .answering, .rowless: continue
            case .callableOnSite:
                try wrapped.conforming(to: (any CallableOnSite).self).call(.refresh, at: .runLoop) {}
                #expect(store.asked == ["call"])
            case .transactionalReading:
                try wrapped.conforming(to: (any TransactionalReading).self).read {}
                #expect(store.asked == ["read"])
            case .asynchronousWriting:
                try wrapped.conforming(to: (any AsynchronousWriting).self).writeLater([], at: .runLoop) {}
                #expect(store.asked == ["writeLater"])
            case .pinning:
                let pinning = try wrapped.conforming(to: (any Pinning).self)
                _ = try pinning.pin()
                _ = try pinning.activeVersions()
                #expect(store.asked == ["pin", "activeVersions"])
            case .compacting:
                _ = try wrapped.conforming(to: (any Compacting).self).compactedBytes()
                #expect(store.asked == ["compactedBytes"])
            case .siteForgetting:
                try wrapped.conforming(to: (any SiteForgetting).self).forget(.runLoop)
                #expect(store.asked == ["forget"])
            case .workCounting:
                let counting = try wrapped.conforming(to: (any WorkCounting).self)
                #expect(try counting.counters() == ["rows": 1] && counting.asleepElsewhereNs() == 1)
                #expect(store.asked == ["counters", "asleep"])
            case .lateVersions:
                let late = try wrapped.conforming(to: (any LateVersions).self)
                #expect(try late.order(ofCommits: [], alsoShown: [Data()]).standing(3) == 3)
                #expect(try late.shows(delivery: 1, commit: 2) && late.shown() == Data([7]))
                #expect(store.asked == ["order 1", "shows", "shown"])
            case .served:
                #expect(try wrapped.conforming(to: (any ServedStore).self).serverCPU() == ["all": 1])
                #expect(store.asked == ["serverCPU"])
            case .reachable:
                let reached = try wrapped.conforming(to: (any ReachableStore).self)
                #expect(reached.address == "there" && reached.secret == "word")
                #expect(reached.obstacle(from: .otherMachine) == "far" && reached.obstacle(from: .near) == nil)
                #expect(store.asked == ["address", "secret", "obstacle", "obstacle"])
            case .harmableServer:
                let server = try wrapped.conforming(to: (any HarmableServer).self)
                try server.restartServer()
                try server.cutObservers()
                _ = try server.stopListener()
                try server.commitLarge(rows: 3)
                #expect(store.asked == ["restart", "cut", "stop", "large 3"])
            case .wholeRows:
                try wrapped.conforming(to: (any WholeRowStore).self).forEachRow(of: Query()) { _ in }
                #expect(store.asked == ["forEachRow"])
            }
        }
    }

    @Test func whoAsksForWhatAStoreCannotDoIsToldTheProtocol() {
        let error = #expect(throws: DriverUnavailable.self) {
            _ = try NotingStore().forwarded().conforming(to: (any Pinning).self)
        }
        #expect(error?.description == "the driver's store is no 'Pinning'")
    }
}
