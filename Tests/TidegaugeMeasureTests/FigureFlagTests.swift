import Foundation
import Testing

@testable import TidegaugeMeasure

@Suite("Flags of figures")
struct FigureFlagTests {
    /// Texts of flags in files, which are part of the format.
    static let texts: [(FigureFlag, String)] = [
        (.atLeast, "at_least"), (.negative(samples: 3), "negative:3"), (.queueThreads, "queue_threads"),
        (.clock(readings: 5, ns: 29), "clock:5x29ns"), (.atFloor, "at_floor"), (.lockstep, "lockstep"),
        (.notMonotone, "not_monotone"), (.coalescing(1.25), "coalescing:1.25"), (.noKnee, "no_knee"),
        (.void(reason: "steal=2.5%"), "void:steal=2.5%"), (.noisy(reason: "hiccup_p99=80us"), "noisy:hiccup_p99=80us"),
        (.noReference, "no_reference"), (.notSteady, "not_steady"), (.saturated(rateHz: 134.6), "saturated:135/s"),
        (.noBaseline, "no_baseline"),
        (.notCounted, "not_counted"), (.acrossHosts(uncertaintyNs: 1_250), "across_hosts:±1250ns"),
        (.over(key: "observers.count"), "over:observers.count"),
        (.at(point: "observers.queries=same,writers.rate=200/s"), "at:observers.queries=same,writers.rate=200/s"),
        (.at(point: ""), "at:"), (.dropped(points: 2), "dropped:2"), (.crashed(signal: "SIGSEGV"), "crashed:SIGSEGV"),
        (.killed(signal: "SIGKILL"), "killed:SIGKILL"), (.hang, "hang"), (.oracleViolation, "oracle_violation"),
        (.counted(by: .callgrind), "counted:callgrind"),
        (.harnessFault(reason: "no: disk"), "harness_fault:no: disk"), (.interrupted, "interrupted"),
    ]

    @Test("Every flag has its text, and is read back from it", arguments: texts)
    func text(flag: FigureFlag, text: String) throws {
        #expect(flag.text == text && FigureFlag(rawValue: text) == flag)
        #expect(try JSONEncoder().encode([flag]) == JSONEncoder().encode([text]))
        #expect(try JSONDecoder().decode([FigureFlag].self, from: JSONEncoder().encode([flag])) == [flag])
    }

    @Test("Every flag word occurs in the list of texts", arguments: FigureFlag.Word.allCases)
    func words(word: FigureFlag.Word) {
        #expect(Self.texts.contains { $0.1.prefix { $0 != ":" } == word.rawValue })
        #expect(!word.meaning.contains("\n") && !word.meaning.contains("|"))
    }

    @Test(
        "Flags that the binary of another commit wrote are kept",
        arguments: [
            "", ":", "brand_new", "brand_new:7", "negative:few", "negative:+3", "clock:5xns", "clock:7", "hang:x",
        ])
    func unknown(text: String) {
        #expect(FigureFlag(rawValue: text).text == text)
    }

    @Test func anErrorMessageIsNoSecondFlag() {
        #expect(FigureFlag.harnessFault(reason: "a;b\nc").text == "harness_fault:a,b c")
    }
}
