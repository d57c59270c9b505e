// The connection to an engine's process: requests of any thread, and a thread of its own for reading, because an engine
// blocks when its output is not read. Methods may be called on any thread unless noted otherwise.
//
// `state` owns the requests that wait, the subscriptions and the failure; `replied` is its condition. `input` owns the
// descriptor of the engine's standard input and is held while a line is written, so that lines do not mix. The lock of
// `state` is the innermost; no subscriber is called under a lock.
import CStillingWellPlatform
import Foundation
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure

final class EngineLink: Sendable {
    /// A reply, and the times of its request on the monotonic clock.
    struct Reply: Sendable {
        var message: EngineMessage
        var sentNs: Int64
        var receivedNs: Int64
    }

    /// A change that the reply to a request makes.
    enum Effect: Sendable {
        /// A subscription gets deliveries from here on.
        case begins(Int)
        /// A subscription gets no deliveries any more.
        case ends(Int)
    }

    /// A request that waits for its reply.
    private struct Waiting {
        let operation: String
        let effect: Effect?
        /// Lines of the reply so far.
        var message: EngineMessage?
        var isComplete = false
        /// Time before the request was sent.
        let askedNs: Int64
        /// Time when the last line of the reply was read, or `askedNs`.
        var heardNs: Int64
    }

    private struct Subscribed {
        let subscriber: any EngineSubscriber
        /// Whether the reply to `subscribe` has come, which precedes all deliveries.
        var hasBegun = false
        /// Lines of a delivery that is not complete.
        var partial: EngineMessage?
    }

    private struct State {
        var lastRequest = 0
        var waiting: [Int: Waiting] = [:]
        var subscriptions: [Int: Subscribed] = [:]
        /// Numbers of the subscriptions whose `cancel` was answered.
        var cancelled: Set<Int> = []
        var bounds = CommitBounds()
        var failure: ProcessFailure?
        /// Whether the process has been asked to end, or is about to be.
        var isClosing = false
        var exit: Subprocess.Exit?

        private var hasWaitingCommits: Bool {
            waiting.values.contains { !$0.isComplete && $0.operation == "commit" }
        }

        /// Notes when an answered commit began. Times that are out of order are left to the writer, which reports them.
        mutating func note(_ answered: Waiting, _ receivedNs: Int64) -> ProcessFailure? {
            guard answered.isComplete, answered.operation == "commit", let reply = answered.message,
                let version = reply.version, let begunNs = reply.begunNs,
                answered.askedNs <= begunNs, begunNs <= receivedNs
            else { return nil }
            return bounds.commit(version, begunNs: begunNs, othersWait: hasWaitingCommits)
        }

        mutating func check(_ delivery: EngineMessage, of number: Int) -> ProcessFailure? {
            guard let version = delivery.version, let atNs = delivery.atNs else { return nil }
            return bounds.delivery(of: number, version: version, atNs: atNs, commitsWait: hasWaitingCommits)
        }
    }

    private let state = Guarded("engine state", State())
    private let replied: TracedCondition
    private let input: Guarded<Int32>
    private let errors = Guarded("engine errors", LastLines())
    private let reader = SetOnce<TracedThread>()
    private let family: ProcessFamily
    private let pid: pid_t
    private let silenceLimitNs: Int64
    /// Beginning of a line that has not ended.
    private let half = Guarded("engine line", "")

    /// Number of engines that this process has started or tried to start.
    private static let started = Atomic<Int>(0)

    /// Starts the program.
    /// - Parameter logs: whether its standard error is copied to that of this process.
    init(_ program: EngineProgram, silenceLimitNs: Int64, logs: Bool) throws {
        let number = Self.started.add(1, ordering: .relaxed).newValue
        family = ProcessFamily("TIDEGAUGE_ENGINE", "\(getpid())-\(number)-\(UInt32.random(in: 0 ... .max))")
        self.silenceLimitNs = silenceLimitNs
        replied = TracedCondition("engine reply", state)
        let environment = program.environment.merging(family.environment) { _, mark in mark }
        let process: Subprocess
        do {
            // Many shells replace themselves by the program of a simple command. One that stays is in `family` too.
            process = try Subprocess(
                "/bin/sh", ["-c", program.command], in: program.folder, environment: environment, keepsInputOpen: true)
        } catch let error as Subprocess.CannotStart {
            throw ProcessFailure(.cannotStart, error.description)
        }
        pid = process.pid
        input = Guarded("engine input", process.takeInput())
        let read = DeliveryBound(process)
        reader.set(
            TracedThread(HarnessThread.engineReader) { [self] in
                read.claim()
                self.read(read.value, logs: logs)
            })
    }

    // MARK: Requests

    /// Sends a request and waits for its reply. Any thread.
    /// - Throws: `ProcessFailure`, `EngineRefusal` or `MissingItem`.
    func call(_ request: RequestText, _ effect: Effect? = nil) throws -> Reply {
        let id = try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isClosing, request.operation != "close" {
                throw ProcessFailure(.order, "'\(request.operation)' was asked for after 'close'")
            }
            state.lastRequest += 1
            let nowNs = MonotonicClock.nowNs()
            state.waiting[state.lastRequest] = Waiting(
                operation: request.operation, effect: effect, askedNs: nowNs, heardNs: nowNs)
            return state.lastRequest
        }
        let sentNs = try send(Array("{\"id\":\(id)".utf8) + request.bytes + Array("}\n".utf8))
        let waiting = try awaitReply(id)
        guard let message = waiting.message else { throw fail(.order, "the reply to '\(request.operation)' is empty") }
        if let refusal = message.refusal {
            if refusal.code == "missing_row", let key = refusal.key {
                throw MissingItem(key: NarrowNumber.wideKey(key))
            }
            throw EngineRefusal(
                operation: request.operation, refusal: refusal, lastLines: errors.withLock { $0.all })
        }
        return Reply(message: message, sentNs: sentNs, receivedNs: waiting.heardNs)
    }

    /// Waits until a reply is complete. Each line of it starts the time limit again.
    private func awaitReply(_ id: Int) throws -> Waiting {
        var deadlineNs = MonotonicClock.nowNs() + silenceLimitNs
        while true {
            let (waiting, failure) = state.withLock(
                after: replied, untilNs: deadlineNs,
                once: { $0.failure != nil || $0.waiting[id]?.isComplete == true }
            ) { state -> (Waiting?, ProcessFailure?) in
                let waiting = state.waiting[id]
                if state.failure != nil || waiting?.isComplete == true { state.waiting[id] = nil }
                return (waiting, waiting?.isComplete == true ? nil : state.failure)
            }
            if let failure { throw failure }
            guard let waiting else { throw fail(.order, "a request was answered twice") }
            if waiting.isComplete { return waiting }
            deadlineNs = waiting.heardNs + silenceLimitNs
            if MonotonicClock.nowNs() >= deadlineNs {
                let line = half.withLock { $0 }
                throw fail(
                    .silent,
                    "it has not answered '\(waiting.operation)' within \(silenceLimitNs / 1_000_000) ms"
                        + (line.isEmpty ? "" : ", after half a line: '\(line)'")
                        + (waiting.operation == "hello" ? ": write each reply as a line, and flush after it" : ""))
            }
        }
    }

    /// The reason why a line could not be written.
    private enum Obstacle {
        case failed
        case notRead
        case closed
    }

    /// Writes a line, and waits while the pipe is full.
    /// - Returns: the time just before.
    private func send(_ line: [UInt8]) throws -> Int64 {
        let (sentNs, obstacle) = input.withLock { write(line, to: $0) }
        switch obstacle {
        case nil: return sentNs
        case .notRead: throw fail(.silent, "it has not read its input for \(silenceLimitNs / 1_000_000) ms")
        // The end of the process may be noticed later than that of the pipe.
        case .failed, .closed:
            let failure = state.withLock(
                after: replied, untilNs: MonotonicClock.nowNs() + silenceLimitNs, once: { $0.failure != nil }
            ) { $0.failure }
            throw failure ?? fail(.order, "it has closed its standard input, and still runs")
        }
    }

    private func write(_ line: [UInt8], to descriptor: Int32) -> (sentNs: Int64, Obstacle?) {
        let sentNs = MonotonicClock.nowNs()
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Int(cp_write_unsignalled(descriptor, $0.baseAddress, UInt($0.count)))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                if state.withLock({ $0.failure != nil }) { return (sentNs, .failed) }
                if MonotonicClock.nowNs() >= sentNs + silenceLimitNs { return (sentNs, .notRead) }
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, 100)
            } else if errno != EINTR {
                return (sentNs, .closed)
            }
        }
        return (sentNs, nil)
    }

    // MARK: Subscriptions

    /// Sends `subscribe`. Deliveries go to `subscriber` from its reply on.
    func subscribe(_ subscriber: any EngineSubscriber, _ number: Int, _ request: RequestText) throws {
        state.withLock { $0.subscriptions[number] = Subscribed(subscriber: subscriber) }
        do {
            _ = try call(request, .begins(number))
        } catch {
            _ = state.withLock { $0.subscriptions.removeValue(forKey: number) }
            throw error
        }
    }

    // MARK: Reading

    private func read(_ process: Subprocess, logs: Bool) {
        let lines = EngineLines()
        var lastHalf = ""
        while true {
            let exit = process.advance { stream, bytes in
                let receivedNs = MonotonicClock.nowNs()
                switch stream {
                case .errors:
                    errors.withLock { $0.add(bytes) }
                    if logs { StandardStream.errors.write(bytes) }
                case .output:
                    let failure = lines.add(bytes) { hear($0, receivedNs) }
                    if let failure { self.fail(failure) }
                    let newHalf = lines.half
                    if newHalf != lastHalf { half.withLock { $0 = newHalf } }
                    lastHalf = newHalf
                }
            }
            if let exit { return ended(exit, half: lines.half) }
        }
    }

    /// Handles one line. On the reading thread.
    private func hear(_ line: UnsafeBufferPointer<UInt8>, _ receivedNs: Int64) -> ProcessFailure? {
        let message: EngineMessage
        do throws(JSONScanner.Problem) {
            message = try EngineMessage(line)
        } catch {
            let text = EngineLines.clipped(line)
            return ProcessFailure(
                .garbage,
                "it wrote a line that is no message (expected \(error.expected) at byte \(error.place)): '\(text)'")
        }
        if message.isDelivery { return deliver(message, receivedNs) }
        guard let id = message.request else {
            return ProcessFailure(
                .garbage, "it wrote a line with neither 're' nor 'event': '\(EngineLines.clipped(line))'")
        }
        return state.withLock { state -> ProcessFailure? in
            guard var waiting = state.waiting[id], !waiting.isComplete else {
                return state.failure == nil
                    ? ProcessFailure(.order, "it answered request \(id), which does not wait") : nil
            }
            waiting.message = message.after(waiting.message)
            waiting.heardNs = receivedNs
            waiting.isComplete = !message.hasMore
            state.waiting[id] = waiting
            if waiting.isComplete, waiting.message?.refusal == nil {
                switch waiting.effect {
                case .begins(let number): state.subscriptions[number]?.hasBegun = true
                case .ends(let number):
                    state.subscriptions[number] = nil
                    state.cancelled.insert(number)
                case nil: break
                }
            }
            replied.broadcast()
            return state.note(waiting, receivedNs)
        }
    }

    private func deliver(_ message: EngineMessage, _ receivedNs: Int64) -> ProcessFailure? {
        guard let number = message.subscription else {
            return ProcessFailure(.order, "it delivered without a 'sub'")
        }
        let (subscriber, whole, obstacle) = state.withLock {
            state -> ((any EngineSubscriber)?, EngineMessage?, ProcessFailure?) in
            func failure(_ kind: ProcessFailure.Kind, _ when: String) -> ProcessFailure {
                ProcessFailure(kind, "it delivered to subscription \(number), \(when)")
            }
            guard var subscribed = state.subscriptions[number] else {
                return (
                    nil, nil,
                    state.cancelled.contains(number)
                        ? failure(.late, "after the reply to 'cancel'") : failure(.order, "which does not exist")
                )
            }
            guard subscribed.hasBegun else { return (nil, nil, failure(.early, "before the reply to 'subscribe'")) }
            let whole = message.after(subscribed.partial)
            subscribed.partial = message.hasMore ? whole : nil
            state.subscriptions[number] = subscribed
            return (subscribed.subscriber, message.hasMore ? nil : whole, nil)
        }
        guard let subscriber else { return obstacle }
        guard let whole else { return nil }
        return subscriber.receive(whole, receivedNs: receivedNs) ?? state.withLock { $0.check(whole, of: number) }
    }

    private func ended(_ exit: Subprocess.Exit, half: String) {
        let (isExpected, unanswered) = state.withLock { state -> (Bool, String?) in
            state.exit = exit
            replied.broadcast()
            let unanswered = state.waiting.values.first { !$0.isComplete }?.operation
            return (state.isClosing && exit.isSuccess && unanswered == nil, unanswered)
        }
        if isExpected { return }
        fail(
            .died,
            "its process ended (\(ProcessFailure.words(exit)))"
                + (unanswered.map { ", and '\($0)' waits for its reply" } ?? "")
                + (half.isEmpty ? "" : ", after half a line: '\(half)'"))
    }

    // MARK: The end

    /// Makes waiting and later requests and subscriptions fail, and kills the engine. The first failure counts.
    /// - Returns: the failure that counts.
    @discardableResult
    func fail(_ failure: ProcessFailure) -> ProcessFailure {
        var failure = failure
        failure.lastLines = errors.withLock { $0.all }
        let (first, subscribers) = state.withLock { [failure] state -> (ProcessFailure, [any EngineSubscriber]) in
            if let first = state.failure { return (first, []) }
            state.failure = failure
            defer { state.subscriptions = [:] }
            replied.broadcast()
            return (failure, state.subscriptions.values.map(\.subscriber))
        }
        for subscriber in subscribers { subscriber.fail(first) }
        family.kill(except: pid)
        return first
    }

    @discardableResult
    private func fail(_ kind: ProcessFailure.Kind, _ sentence: String) -> ProcessFailure {
        fail(ProcessFailure(kind, sentence))
    }

    /// Asks the engine to end, waits for that, and kills the processes that it has left behind. Any thread. A second
    /// call does nothing.
    /// - Throws: errors of `call`; `ProcessFailure` if the process does not end or ends with a failure.
    func close() throws {
        // Set before the request, because the engine may end before its reply has been read.
        let isFirst = state.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing
        }
        guard isFirst else { return }
        defer {
            family.kill(except: pid)
            reader.value.joinOrDetach()
            input.withLock { descriptor in
                if descriptor >= 0 { Glibc.close(descriptor) }
                descriptor = -1
            }
        }
        _ = try call(RequestText("close"))
        input.withLock { descriptor in
            Glibc.close(descriptor)
            descriptor = -1
        }
        let (exit, failure) = state.withLock(
            after: replied, untilNs: MonotonicClock.nowNs() + silenceLimitNs, once: { $0.exit != nil }
        ) { ($0.exit, $0.failure) }
        if let failure { throw failure }
        guard let exit else {
            throw fail(.stays, "its process has not ended within \(silenceLimitNs / 1_000_000) ms of 'close'")
        }
        // The reading thread may not have noted this failure yet.
        if !exit.isSuccess { throw fail(.died, "its process ended (\(exit)) after 'close'") }
    }

    /// CPU time in ns of the processes of the engine that still run.
    func cpuNs() -> Int64 { family.cpuNs() }

    /// Like `cpuNs` if all of their threads sleep; otherwise nil.
    func asleepNs() -> Int64? { family.asleepNs() }
}
