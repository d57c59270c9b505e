// Fuzzes what an engine in a process of its own writes to its standard output.
import Foundation
import StillingWellBasis
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import TidegaugeProcessDriver

@Suite("Fuzzing engines", .serialized, .onThreads)
struct EngineFuzzTests {
    @Test("engine: lines are messages, or the engine is at fault", arguments: seeds(1))
    func engine(_ seed: UInt64) throws {
        let good = [
            #"{"re":1,"name":"a","engineVersion":"b","runtime":"c","facts":{"durabilities":["memory"],"shows":"rows"}}"#
                + "\n",
            #"{"event":"delivery","sub":1,"at":9,"version":2,"initial":false,"count":2,"moves":1,"deletions":[0],"#
                + #""insertions":[1],"modifications":[],"rows":[[1,2,3,4],[-5,0,9007199254740991,0]],"more":true}"#
                + "\n",
            #"{"re":2,"version":7,"begun":1,"locked":2,"done":3}"# + "\n" + #"{"re":3,"rows":[],"keys":[1]}"# + "\n",
            #"{"re":4,"error":{"code":"missing_row","text":"a\"\u00e4","definite":true,"key":1}}"# + "\n",
        ]
        let words = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "null", "true", "-1", "0", "9223372036854775807",
            "-9223372036854775808", "1e400", "\"re\":", "\"rows\":", "\"keys\":", "\"facts\":{}", "\"error\":{}",
            "\"more\":true",
        ]
        var fuzzer = try Fuzzer("engine", seed: seed, words: words, good: good.map { Array($0.utf8) })
        try fuzzer.run(3_000) { bytes -> String in
            let lines = EngineLines()
            var kinds: Set<String> = []
            var before: EngineMessage?
            for piece in [bytes[..<(bytes.count / 2)], bytes[(bytes.count / 2)...]] {
                let failure = Array(piece).withUnsafeBufferPointer { piece in
                    lines.add(piece) { line in
                        do throws(JSONScanner.Problem) {
                            let message = try EngineMessage(line).after(before)
                            for row in message.rows ?? [] { _ = NarrowNumber.wideItem(row) }
                            for key in message.keys ?? [] { _ = NarrowNumber.wideKey(Int64(key)) }
                            if message.introduction != nil { _ = try? EngineIntroduction(message).engineFacts }
                            kinds.insert(message.isDelivery ? "delivery" : message.refusal == nil ? "reply" : "error")
                            before = message.hasMore ? message : nil
                            return nil
                        } catch {
                            return ProcessFailure(.garbage, error.expected)
                        }
                    }
                }
                if let failure { return failure.sentence }
            }
            return kinds.sorted().joined(separator: " ")
        }
    }
}
