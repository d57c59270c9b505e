// Contents of rows beyond the four numbers of `Item`, and their tables. They are a function of seed, key and
// `Item.stamp`, so that a reader can check a row without any stored state.
import Foundation
import StillingWellBasis

/// Shape of a store's rows: `plain` unless a scenario asks for rows like an application's (`WholeRowStore`).
public struct RowShape: Sendable, Equatable {
    /// Four numbers in one table.
    public static let plain = RowShape()

    /// Number of characters of the text in each row; a few take two bytes. Each update rewrites the text.
    public var textCharacters: Int
    /// Number of incompressible bytes in each row, written at insertion and never changed.
    public var payloadBytes: Int
    /// Number of tables besides the observed one. If there are any, each observed row has a counterpart with the same
    /// key in one of them, which is inserted, changed and deleted in the same transaction.
    public var furtherTables: Int
    public var seed: UInt64

    public init(textCharacters: Int = 0, payloadBytes: Int = 0, tables: Int = 1, seed: UInt64 = 0) {
        (self.textCharacters, self.payloadBytes, self.seed) = (textCharacters, payloadBytes, seed)
        furtherTables = tables - 1
    }

    public var isPlain: Bool { textCharacters == 0 && payloadBytes == 0 && furtherTables == 0 }

    /// Approximate bytes of a row besides its numbers.
    public var bytesPerRow: Int { textCharacters + payloadBytes }

    /// Returns the index of the table with the row's counterpart, from 0, or nil without further tables.
    public func counterpart(of key: Int64) -> Int? { furtherTables > 0 ? Int(key % Int64(furtherTables)) : nil }

    /// Returns the row with all its values. O(bytes of the row).
    public func whole(_ item: Item) -> WholeRow {
        WholeRow(
            item, text: text(of: item), payload: payload(ofKey: item.key),
            counterpartStamp: furtherTables > 0 ? item.stamp : nil)
    }

    /// Returns the text of a row as written by the commit that its stamp names. O(characters).
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

    /// Returns the payload of the row with this key, which never changes. O(bytes).
    public func payload(ofKey key: Int64) -> Data {
        var random = source(key, 0, stream: 2)
        let words = (0..<(payloadBytes + 7) / 8).map { _ in random.next().littleEndian }
        return words.withUnsafeBytes { Data($0.prefix(payloadBytes)) }
    }

    /// 32 characters, each drawn with five bits. The space occurs twice.
    private static let alphabet = Array("etaoinshrdlu cmfwyp vbgkjqxz.äöé").map { Array($0.utf8) }

    private func source(_ key: Int64, _ stamp: Int64, stream: UInt64) -> SplitMix64 {
        let row = SplitMix64.mix(seed &+ stream &* SplitMix64.step) ^ UInt64(bitPattern: key)
        return SplitMix64(seed: SplitMix64.mix(SplitMix64.mix(row) ^ UInt64(bitPattern: stamp)))
    }
}

/// A row with all its values.
public struct WholeRow: Sendable, Equatable {
    public var item: Item
    public var text: String
    public var payload: Data
    /// Stamp of its counterpart; nil if there is none.
    public var counterpartStamp: Int64?

    public init(_ item: Item, text: String, payload: Data, counterpartStamp: Int64?) {
        (self.item, self.text, self.payload, self.counterpartStamp) = (item, text, payload, counterpartStamp)
    }
}
