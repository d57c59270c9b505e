// Stores that stand before another one pass on everything that they do not change: each thing a store can be asked for, by
// the list in the protocol itself.
import Foundation
import Scenario
import StoreDriver
import Testing

@testable import TrialRunner

/// Notes what it is asked for.
private final class NotingStore: DrivenStore, @unchecked Sendable {
    var asked: [String] = []

    final class Writer: StoreWriter {
        func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? { 7 }
    }

    final class Nobody: Subscription {
        func cancel() {}
        func currentItems() throws -> [Item] { [] }
    }

    func load(count: Int, item: (Int) -> Item) throws { asked.append("load") }
    func makeWriter() throws -> any StoreWriter {
        asked.append("makeWriter")
        return Writer()
    }
    func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any Subscription {
        asked.append("subscribe")
        return Nobody()
    }
    func forget(_ site: DeliverySite) throws { asked.append("forget") }
    func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws { asked.append("call") }
    func read(_ body: () throws -> Void) throws { asked.append("read") }
    func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        asked.append("writeLater")
    }
    func contents(of query: Query) throws -> [Item] {
        asked.append("contents")
        return []
    }
    func fileBytes() throws -> Int {
        asked.append("fileBytes")
        return 1
    }
    func compactedBytes() throws -> Int {
        asked.append("compactedBytes")
        return 1
    }
    func activeVersions() throws -> Int {
        asked.append("activeVersions")
        return 1
    }
    func pin() throws -> AnyObject {
        asked.append("pin")
        return self
    }
    func close() throws { asked.append("close") }
}

private final class NoSink: DeliverySink {
    func deliver(_ delivery: borrowing Delivery) {}
    func fail(_ error: any Error) {}
}

@Suite struct ForwardingTests {
    private static let requests: [(name: String, ask: @Sendable (any DrivenStore) throws -> Void)] = [
        ("load", { try $0.load(count: 0) { Item(key: Int64($0), group: 0, score: 0, stamp: 0) } }),
        ("makeWriter", { _ = try $0.makeWriter() }),
        ("subscribe", { _ = try $0.subscribe(to: Query(), at: .runLoop, sink: NoSink()) }),
        ("forget", { try $0.forget(.runLoop) }),
        ("call", { try $0.call(.refresh, at: .runLoop) {} }),
        ("read", { try $0.read {} }),
        ("writeLater", { try $0.writeLater([], at: .runLoop) {} }),
        ("contents", { _ = try $0.contents(of: Query()) }),
        ("fileBytes", { _ = try $0.fileBytes() }),
        ("compactedBytes", { _ = try $0.compactedBytes() }),
        ("activeVersions", { _ = try $0.activeVersions() }),
        ("pin", { _ = try $0.pin() }),
        ("close", { try $0.close() }),
    ]

    private static let wrappers: [(name: String, wrap: @Sendable (any DrivenStore) -> any DrivenStore)] = [
        ("shim", { ShimmedStore($0, Shim("none")!) }),
        ("shim that lingers", { ShimmedStore($0, Shim("linger=2:1ms")!) }),
        ("slowdown", { InjectedStore.wrapping($0, FaultSpec(kind: .slowdown, amount: 1)) }),
        ("loss", { InjectedStore.wrapping($0, FaultSpec(kind: .loss, every: 2)) }),
        ("no fault", { InjectedStore.wrapping($0, FaultSpec()) }),
    ]

    @Test(arguments: wrappers.map(\.name), requests.map(\.name))
    func everyRequestReachesTheStore(_ wrapper: String, _ request: String) throws {
        let store = NotingStore()
        let wrapped = Self.wrappers.first { $0.name == wrapper }!.wrap(store)
        try Self.requests.first { $0.name == request }!.ask(wrapped)
        #expect(store.asked == [request])
    }

    @Test func theRequestsAreThoseOfTheProtocol() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/StoreDriver/StoreDriver.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "public protocol DrivenStore"))
        let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
        let names = text[start.upperBound..<end.lowerBound].components(separatedBy: "    func ").dropFirst().map {
            String($0.prefix { $0 != "(" })
        }
        #expect(names == Self.requests.map(\.name))
    }
}
