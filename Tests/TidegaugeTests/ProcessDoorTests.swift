// Tests of engines in processes of their own.
import Foundation
import StillingWellTestThreads
import Synchronization
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeProcessDriver
import TidegaugeTrial

@testable import TidegaugeSpec
@testable import TidegaugeTrialRunner

private let hasPython = (try? Subprocess.run("/bin/sh", ["-c", "command -v python3"]).isSuccess) ?? false

@Suite(.serialized, .onThreads, .enabled(if: hasPython, "no python3 here")) struct ProcessDoorTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL.path

    /// An engine, and all processes that it starts.
    private struct Subject {
        let driver: any StoreDriver
        let family: ProcessFamily

        init(_ command: String) throws {
            family = ProcessFamily("TIDEGAUGE_TEST", UUID().uuidString)
            let program = EngineProgram(
                command: command, environment: family.environment, folder: ProcessDoorTests.root)
            driver = try KnownEngine(meeting: program).driver
            awaitEnd()
        }

        init(fault: String) throws { try self.init("python3 Tests/Fixtures/Engines/dictionary.py \(fault)") }

        /// Returns once no process of the engine runs. A trial may end before the last one has been killed.
        func awaitEnd() {
            while !family.members().isEmpty { Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000) }
        }
    }

    /// A spec of a load that a slow engine on a busy machine keeps up with.
    private func spec(_ driver: any StoreDriver) -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
        spec.writers.rateHz = 200
        spec.hangTimeoutNs = 600_000_000_000
        return spec
    }

    @Test(arguments: ["none", "split", "errors", "float"]) func anEngineIsMeasured(_ variety: String) throws {
        let subject = try Subject(fault: variety)
        #expect(subject.driver.name == "dictionary")
        let result = try runTrial(spec(subject.driver), on: subject.driver) { result in
            if (result.counts["commits"] ?? 0) > 10 { return true }
            // The CPU time of a process that ends during the next attempt would be missing from its figure.
            subject.awaitEnd()
            return false
        }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) == 0)
        #expect((result.counts["server_cpu_ns.engine"] ?? 0) > 0)
        #expect((result.value(.engine(counter: "queries_evaluated")) ?? 0) > 0)
        #expect((result.value(.engine(counter: "rows_read")) ?? 0) > 0)
        subject.awaitEnd()
    }

    /// Both readings come when the engine has nothing to do, so the counts of one commit at a time are exact.
    @Test func countersAreExactForOneCommitAtATime() throws {
        let subject = try Subject(fault: "none")
        var spec = spec(subject.driver)
        (spec.writers.threads, spec.writers.load, spec.writers.keys) = (1, .lockstep, .matching)
        spec.writers.changes = ["update-score": 1]
        (spec.observers.queries, spec.observers.count, spec.observers.idleQueries) = (.same, 2, 0)
        let result = try runTrial(spec, on: subject.driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.value(.engine(counter: "queries_evaluated")) == 2)
        #expect(result.value(.engine(counter: "rows_read")) == 60)
        subject.awaitEnd()
    }

    /// An engine in this process counts by the same ability.
    @Test func aSwiftDriverCounts() throws {
        let result = try runTrial(.tiny(), on: CountingDriver(counter: "commits"))
        #expect(result.fate == .completed && result.value(.engine(counter: "commits")) == 1, "\(result.notes)")
        let other = try runTrial(.tiny(), on: CountingDriver(counter: "Commits"))
        #expect(other.notes.contains { $0.contains("the counter 'Commits' must have") }, "\(other.notes)")
    }

    /// A process that the engine has left behind, in a session of its own, is killed.
    @Test func whatAnEngineLeavesBehindIsKilled() throws {
        let subject = try Subject(fault: "fork")
        let result = try runTrial(spec(subject.driver), on: subject.driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(subject.family.members().isEmpty)
    }

    /// Each fault ends the trial with the reason of its kind, and a note says what was wrong.
    @Test(arguments: [
        ("die", "engine_died", "a last word"), ("killed", "engine_died", "signal 9"),
        ("fork-dies", "engine_died", "exit status 3"),
        ("half-line-dies", "engine_died", "after half a line: '{\"re\":'"),
        ("garbage", "engine_garbage", "'hello, world'"), ("no-message", "engine_garbage", "neither 're' nor 'event'"),
        ("long-line", "engine_line_too_long", "8388608 bytes"), ("future", "engine_time", "was read before"),
        ("backwards", "engine_time", "the delivery before it"), ("past", "engine_time", "not in order"),
        ("early", "engine_early_delivery", "before the reply to 'subscribe'"),
        ("late", "engine_late_delivery", "after the reply to 'cancel'"),
        ("stray", "engine_order", "which does not exist"),
        ("early-at", "engine_time", "before a commit that it shows began"),
        ("no-lists", "engine_facts", "none of 'deletions'"),
        ("wrong-id", "engine_order", "which does not wait"), ("no-version", "engine_facts", "no 'version'"),
        ("counter-missing", "engine_facts", "its facts name"), ("counter-falls", "store_error", "counts since opening"),
        ("no-rows", "engine_facts", "no 'rows'"), ("wrong-count", "engine_facts", "states 'count'"),
        ("error", "engine_error", "busy: the store is busy (nothing happened)"),
        ("indefinite-error", "engine_indefinite_error", "(it may have happened)"),
    ])
    func eachFaultHasARow(_ fault: String, _ name: String, _ words: String) throws {
        let subject = try Subject(fault: fault)
        let result = try runTrial(spec(subject.driver), on: subject.driver)
        #expect(result.fate == .harnessFault(reason: name), "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.notes.contains { $0.contains(words) }, "\(result.notes)")
        if !["engine_error", "engine_indefinite_error", "store_error"].contains(name) { subject.awaitEnd() }
        subject.family.kill()
    }

    /// The engine swaps two rows of one delivery.
    @Test func twoSwappedRowsOfOneDeliveryAreSeen() throws {
        let subject = try Subject(fault: "swapped")
        let result = try runTrial(spec(subject.driver), on: subject.driver) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.fate) \(result.notes)")
        #expect(
            result.violations.contains { $0.contains("shown rows: callback ") },
            "\(result.violations)")
        subject.awaitEnd()
    }

    /// The command is text for a shell: it may change the folder, set variables and be several programs.
    @Test(arguments: [
        "cd Tests/Fixtures/Engines && python3 dictionary.py none",
        "UNUSED=1 python3 Tests/Fixtures/Engines/dictionary.py none",
        "python3 Tests/Fixtures/Engines/dictionary.py none | cat",
        "(python3 Tests/Fixtures/Engines/dictionary.py none); true",
    ])
    func aCommandIsTextForAShell(_ command: String) throws {
        let subject = try Subject(command)
        let result = try runTrial(spec(subject.driver), on: subject.driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        subject.awaitEnd()
    }

    /// A shell that stays between is killed with the engine.
    @Test func anEngineBehindAShellIsKilled() throws {
        let subject = try Subject("python3 Tests/Fixtures/Engines/dictionary.py garbage | cat")
        let result = try runTrial(spec(subject.driver), on: subject.driver)
        #expect(result.fate == .harnessFault(reason: "engine_garbage"), "\(result.fate) \(result.notes)")
        subject.awaitEnd()
    }

    @Test func whatIsNotCheckedIsARemark() throws {
        let echo = try Subject("python3 Engines/echo-python/engine.py")
        #expect(
            echo.driver.facts.remarks.contains("not checked: rows (fact 'contents'), change sets (fact 'changeSets')"))
        let dictionary = try Subject(fault: "none")
        #expect(dictionary.driver.facts.remarks.allSatisfy { !$0.contains("not checked") })
    }

    /// Waits end after the time limit, whatever else runs on the machine.
    @Test(arguments: [
        ("silent", "engine_silent"), ("half-line", "engine_silent"), ("closes-input", "engine_silent"),
        ("stays", "engine_stays"),
    ])
    func silenceHasARow(_ fault: String, _ name: String) throws {
        let subject = try Subject(fault: fault)
        let folder = try PrivateFolder()
        var configuration = StoreConfiguration(directory: folder.path, durability: .memory)
        // Longer than an answer takes on a busy machine: an answer that comes too late has the same name.
        configuration.silenceLimitNs = 3_000_000_000
        var found: (any NamedEngineError)?
        do {
            let store = try subject.driver.open(configuration)
            try store.load(count: 5) { Item(key: Int64($0), group: 0, score: Int64($0), stamp: 0) }
            let writer = try store.makeWriter()
            for stamp in 1...(fault == "stays" ? 2 : 4) {
                let changes = [Change(.touch, Item(key: 1, group: 0, score: 0, stamp: Int64(stamp)))]
                _ = try changes.withUnsafeBufferPointer { try writer.commit($0, locked: {}) }
            }
            try store.close()
        } catch let error as any NamedEngineError {
            found = error
        }
        #expect(found?.reportName == name, "\(found?.description ?? "no error")")
        subject.awaitEnd()
    }

    @Test(arguments: [
        ("python3 Tests/Fixtures/Engines/dictionary.py no-facts", "has no 'facts'"),
        ("python3 Tests/Fixtures/Engines/dictionary.py no-durability", "'durabilities' must be some of"),
        ("python3 Tests/Fixtures/Engines/dictionary.py bad-name", "its name 'Dictionary One'"),
        ("python3 Tests/Fixtures/Engines/dictionary.py bad-counter", "'counters' has 'Rows'"),
        ("python3 Tests/Fixtures/Engines/dictionary.py unknown-fact", "'changesets': did you mean 'changeSets'?"),
        (
            "python3 Tests/Fixtures/Engines/dictionary.py unknown-word",
            "'facts.shows': expects one of 'rows', 'keys', 'none', found 'row'"
        ),
        ("no-such-program --here", "no-such-program"),
        ("echo hello", "'hello'"),
    ])
    func anEngineThatCannotBeUsedIsRefused(_ command: String, _ words: String) {
        #expect { _ = try Subject(command) } throws: { "\($0)".contains(words) }
    }

    @Test func aServerIsNotAskedFor() throws {
        let subject = try Subject(fault: "none")
        var spec = spec(subject.driver)
        spec.serverListeners = 3
        #expect(try runTrial(spec, on: subject.driver).isUnavailable)
    }

    /// An engine of this repository that needs only Python.
    @Test(
        arguments: cases(
            Conformance.checks.map(\.name),
            atEveryCommit: ["many threads", "a commit that fails", "cancel", "close", "oracle"]))
    func sqliteInPythonConforms(_ check: String) throws {
        let subject = try Subject("python3 Engines/sqlite-python/engine.py")
        let complaints = Conformance(driver: subject.driver).complaints(Conformance.checks.filter { $0.name == check })
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
        subject.awaitEnd()
    }

    @Test func anEchoConforms() throws {
        let subject = try Subject("python3 Engines/echo-python/engine.py 10")
        #expect(!subject.driver.capabilities.hasContents)
        let result = try runTrial(spec(subject.driver), on: subject.driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        subject.awaitEnd()
    }
}

/// A driver whose store counts its commits.
private struct CountingDriver: StoreDriver {
    let counter: String
    let name = "model"
    var facts: EngineFacts { ModelDriver().facts }

    func open(_ configuration: StoreConfiguration) -> CountingStore { CountingStore(counter) }
}

private final class CountingStore: WorkCounting {
    private let base = ModelStore()
    private let counter: String
    private let commits = Atomic<Int>(0)

    init(_ counter: String) { self.counter = counter }

    func counters() -> [String: Int] { [counter: commits.load(ordering: .relaxed)] }
    func load(count: Int, item: (Int) -> Item) { base.load(count: count, item: item) }
    func makeWriter() -> any StoreWriter {
        let writer = base.makeWriter()
        return CommittingWriter { [self] changes, locked in
            let version = try writer.commit(changes, locked: locked)
            commits.add(1, ordering: .relaxed)
            return version
        }
    }
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) -> any DriverSubscription {
        base.subscribe(to: query, at: site, sink: sink)
    }
    func contents(of query: Query) -> [Item] { base.contents(of: query) }
    func fileBytes() -> Int { base.fileBytes() }
    func close() { base.close() }
}
