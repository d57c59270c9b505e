// Tests of the messages between the harness and an engine in another process.
import Foundation
import StillingWellBasis
import StillingWellSeededRandom
import Testing
import TidegaugeDriver

@testable import TidegaugeProcessDriver

@Suite struct EngineMessageTests {
    private func message(_ text: String) throws -> EngineMessage {
        try Array(text.utf8).withUnsafeBufferPointer { try EngineMessage($0) }
    }

    @Test func aDeliveryIsRead() throws {
        let delivery = try message(
            #" { "event" : "delivery","sub":3,"at":75475160516189,"version":-7,"initial":true,"count":2, "moves":1,"#
                + #""deletions":[ ],"insertions":[0, 1],"modifications":[5],"keys":[9,-9],"rows":[[1,2,3,4]],"#
                + #""more":false,"x":{"y":[1.5e3,null,true,"\"}"]}}"# + " \r")
        #expect(delivery.isDelivery && delivery.isInitial && !delivery.hasMore && delivery.request == nil)
        #expect(delivery.subscription == 3 && delivery.atNs == 75_475_160_516_189 && delivery.version == -7)
        #expect(delivery.count == 2 && delivery.moveCount == 1 && delivery.deletions.isEmpty)
        #expect(delivery.insertions == [0, 1] && delivery.modifications == [5] && delivery.keys == [9, -9])
        #expect(delivery.rows == [Item(key: 1, group: 2, score: 3, stamp: 4)])
    }

    @Test func aRefusalIsRead() throws {
        let text = #"{"re":8,"error":{"code":"a\"b\u00e4","text":"","definite":true,"key":4}}"#
        let refusal = try #require(try message(text).refusal)
        #expect(refusal.code == "a\"bä" && refusal.isDefinite && refusal.key == 4)
    }

    @Test func linesOfOneReplyAreJoined() throws {
        let first = try message(#"{"re":1,"rows":[[1,0,0,0]],"keys":[1],"insertions":[4],"more":true}"#)
        let last = try message(#"{"re":1,"rows":[[2,0,0,0]],"keys":[2],"insertions":[5],"version":3}"#)
        let whole = last.after(first)
        #expect(whole.rows?.map(\.key) == [1, 2] && whole.keys == [1, 2] && whole.insertions == [4, 5])
        #expect(whole.version == 3 && !whole.hasMore)
    }

    @Test func anEmptyListIsAChangeSet() throws {
        #expect(try message(#"{"event":"delivery","insertions":[]}"#).hasChangeSet)
        #expect(try !message(#"{"event":"delivery","rows":[]}"#).hasChangeSet)
    }

    /// The engine gets narrower numbers than the harness has.
    @Test func aRowHasTheNumbersOfTheEngine() throws {
        let row = Item(key: .max - 3, group: 2, score: 5 << 32 | 7, stamp: 4)
        let narrow = NarrowNumber.engineItem(row)
        #expect(narrow == Item(key: 1 << 53 - 4, group: 2, score: 5 << 22 | 7, stamp: 4))
        #expect(NarrowNumber.wideItem(narrow) == row)
    }

    @Test(arguments: [
        "", "[]", "{", "{}x", "{\"re\":1", "{\"re\":1,}", "{\"re\":1.5}", "{\"re\":1e3}", "{\"re\":\"1\"}", "{re:1}",
        "{\"re\":01}",
        "{\"re\":9223372036854775808}", "{\"re\":-}", "{\"initial\":tru}", "{\"initial\":1}", "{\"rows\":[[1,2,3]]}",
        "{\"rows\":[1]}", "{\"keys\":[1,,2]}", "{\"x\":\"\\", "{\"x\":}", "{\"x\":\"\\q\",\"event\":\"\\q\"}",
        "{\"x\":" + String(repeating: "[", count: 100_000),
    ])
    func whatIsNoMessageIsRefused(_ text: String) {
        #expect(throws: JSONScanner.Problem.self) { try message(text) }
    }

    /// Random tokens are read or refused, and only JSON objects are read.
    @Test func anyBytesAreReadOrRefused() throws {
        let words = [
            "{", "}", "[", "]", ",", ":", "\"re\"", "\"keys\"", "1", "-", "\"", "\\", "true", "null", " ", "0.5",
        ]
        for seed in testSeeds(1) {
            var random = SeededRandom(seed: seed)
            for _ in 0..<5_000 {
                let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in words.randomElement(using: &random)!
                }
                let line = text.joined()
                let read = try? message(line)
                let isObject = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) is [String: Any]
                if read != nil { #expect(isObject, "seed \(seed): \(line)") }
            }
        }
    }

    @Test func numbersKeepTheirOrderAndComeBack() throws {
        let top = Int64(UInt32.max)
        let serials: [Int64] = [0, 1, 2, (1 << 22) - 1_025, top - 1_023, top - 1, top]
        let uppers: [Int64] = [0, 1, 77, 1 << 30, (1 << 31) - 1]
        let high = uppers.flatMap { (upper: Int64) -> [Int64] in serials.map { upper << 32 | $0 } }
        let scores: [Int64] = [-1_000_000, -2, -1] + high
        let narrow = try scores.map { try NarrowNumber.score($0) }
        #expect(narrow == narrow.sorted() && Set(narrow).count == narrow.count)
        #expect(narrow.allSatisfy { abs($0) < 1 << 53 })
        #expect(narrow.map(NarrowNumber.wideScore) == scores)
        let keys: [Int64] = [0, 1, 5_000_000, .max - 1_023, .max - 1, .max]
        #expect(keys.map(NarrowNumber.key).allSatisfy { $0 < 1 << 53 })
        #expect(keys.map { NarrowNumber.wideKey(NarrowNumber.key($0)) } == keys)
        #expect(throws: NarrowNumber.NoRoom.self) { try NarrowNumber.score(1 << 22) }
    }

    @Test func requestsAreJSON() throws {
        var request = RequestText("commit")
        request.field("writer", 3)
        request.field("text", text: "a\"\\\u{1}ä\n")
        let item = Item(key: 5, group: 1, score: 7, stamp: 9)
        let changes = [Change(.insert, item), Change(.updateScore, item), Change(.touch, item), Change(.delete, item)]
        try changes.withUnsafeBufferPointer { try request.add($0) }
        try request.add(Query(scores: 3..<Int64.max, group: 4, keys: 1..<8, order: .scoreDescending))
        let text = "{\"id\":1" + String(decoding: request.bytes, as: UTF8.self) + "}"
        #expect(
            text == #"{"id":1,"op":"commit","writer":3,"text":"a\"\\\u0001ä\u000a","changes":"#
                + #"[["insert",5,{"group":1,"score":7,"stamp":9}],["update",5,{"score":7,"stamp":9}],"#
                + #"["update",5,{"stamp":9}],["delete",5]],"query":{"match":[["group","=",4],["score",">=",3],"#
                + #"["key",">=",1],["key","<",8]],"sort":"-score"}}"#)
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    @Test func linesAreSplitAndLimited() {
        let lines = EngineLines()
        var heard: [String] = []
        @discardableResult func add(_ text: String) -> ProcessFailure? {
            Array(text.utf8).withUnsafeBufferPointer { bytes in
                lines.add(bytes) {
                    heard.append(String(decoding: $0, as: UTF8.self))
                    return nil
                }
            }
        }
        #expect(add("a") == nil && add("b\nc\n\nd") == nil)
        #expect(heard == ["ab", "c", ""] && lines.half == "d")
        #expect(add(String(repeating: "x", count: EngineLines.longest - 1)) == nil)
        #expect(add("y")?.reportName == "engine_line_too_long")
        // A line that is too long in the piece in which it ends is one too.
        let long = String(repeating: "y", count: EngineLines.longest)
        #expect(add(long + "\n") == nil)
        #expect(add("z" + long + "\n")?.kind == .lineTooLong)
    }

    @Test func lastLinesAreKept() {
        var lines = LastLines()
        for number in 0..<100 { Array("line \(number)\n".utf8).withUnsafeBufferPointer { lines.add($0) } }
        Array("half".utf8).withUnsafeBufferPointer { lines.add($0) }
        #expect(lines.all.count == 20 && lines.all.first == "line 81" && lines.all.last == "half")
    }
}
