// What rows hold beside the four numbers that a trial counts by, and in how many tables they stand: a function of the seed, the
// key and the stamp. Whoever reads a row can say what has to be in it, and nothing has to be remembered. Values only.
import Foundation
import StillingWellBasis

/// What the rows of a store look like: `plain`, unless a scenario asks for rows like an application's (`WholeRowStore`).
public struct RowShape: Sendable, Equatable {
    /// Four numbers in one table.
    public static let plain = RowShape()

    /// Characters of the text in each row, a few of two bytes. Each change of a row writes its text anew.
    public var textCharacters: Int
    /// Bytes in each row, which no compression makes fewer. They come with the row and stay as they are.
    public var payloadBytes: Int
    /// Beside the rows that are watched. Each of those has a counterpart in one of the other tables, under the same key, which
    /// comes, changes and goes with it in the same transaction, as an application's transactions seldom keep to one table.
    public var furtherTables: Int
    public var seed: UInt64

    public init(textCharacters: Int = 0, payloadBytes: Int = 0, tables: Int = 1, seed: UInt64 = 0) {
        (self.textCharacters, self.payloadBytes, self.seed) = (textCharacters, payloadBytes, seed)
        furtherTables = tables - 1
    }

    public var isPlain: Bool { textCharacters == 0 && payloadBytes == 0 && furtherTables == 0 }

    /// About what a row holds beside its numbers, in bytes.
    public var bytesPerRow: Int { textCharacters + payloadBytes }

    /// Which of the further tables has the row's counterpart, from 0; nil where there are none.
    public func counterpart(of key: Int64) -> Int? { furtherTables > 0 ? Int(key % Int64(furtherTables)) : nil }

    /// The row with all that it holds. O(its bytes).
    public func whole(_ item: Item) -> WholeRow {
        WholeRow(
            item, text: text(of: item), payload: payload(ofKey: item.key),
            counterpartStamp: furtherTables > 0 ? item.stamp : nil)
    }

    /// Of a row as the commit has left it that its stamp names. O(its characters).
    public func text(of item: Item) -> String {
        var random = source(item.key, item.stamp, stream: 1)
        return String(unsafeUninitializedCapacity: 2 * textCharacters) { buffer in
            var (end, drawn) = (0, UInt64(0))
            for index in 0..<textCharacters {
                if index.isMultiple(of: 12) { drawn = random.next() }
                for byte in Self.alphabet[Int(drawn & 31)] {
                    buffer[end] = byte
                    end += 1
                }
                drawn >>= 5
            }
            return end
        }
    }

    /// Of the row with this key, whatever is done to it. O(its bytes).
    public func payload(ofKey key: Int64) -> Data {
        var random = source(key, 0, stream: 2)
        let words = (0..<(payloadBytes + 7) / 8).map { _ in random.next().littleEndian }
        return words.withUnsafeBytes { Data($0.prefix(payloadBytes)) }
    }

    /// 32 letters: one drawn from five bits.
    private static let alphabet = Array("etaoinshrdlu cmfwyp vbgkjqxz.äöé").map { Array($0.utf8) }

    private func source(_ key: Int64, _ stamp: Int64, stream: UInt64) -> SplitMix64 {
        let row = SplitMix64.mix(seed &+ stream &* SplitMix64.step) ^ UInt64(bitPattern: key)
        return SplitMix64(seed: SplitMix64.mix(SplitMix64.mix(row) ^ UInt64(bitPattern: stamp)))
    }
}

/// A row with all that it holds.
public struct WholeRow: Sendable, Equatable {
    public var item: Item
    public var text: String
    public var payload: Data
    /// The stamp of its counterpart; nil where none was found.
    public var counterpartStamp: Int64?

    public init(_ item: Item, text: String, payload: Data, counterpartStamp: Int64?) {
        (self.item, self.text, self.payload, self.counterpartStamp) = (item, text, payload, counterpartStamp)
    }
}
