// Tests of comparisons without regard to case.
import StillingWellSeededRandom
import Testing

@testable import StillingWell

/// Simple case folding composed from case mappings, which are strings.
private enum MappedFolding {
    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard scalar.properties.isCased else { return scalar }
        switch scalar.value {
        // A dotless i is no variant of i, despite its upper case (CaseFolding.txt gives it no folding).
        case 0x131: return scalar
        // Variants that no single-scalar mapping relates.
        case 0x1fd3: return "\u{390}"
        case 0x1fe3: return "\u{3b0}"
        case 0xfb05: return "\u{fb06}"
        default: break
        }
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    static func fold(_ text: String) -> [UInt8] {
        var folded = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { folded.append(fold(scalar)) }
        return Array(String(folded).utf8)
    }

    private static func single(_ mapping: String) -> Unicode.Scalar? {
        mapping.unicodeScalars.count == 1 ? mapping.unicodeScalars.first : nil
    }
}

@Suite("Case folding")
struct CaseFoldingTests {
    /// Version of Unicode that the table was made from. A newer standard library may know more scalars.
    private static let version = (17, 0)

    @Test("the table folds every scalar as the case mappings do, and knows all variants of a letter")
    func table() {
        var variants: [Unicode.Scalar: Set<Unicode.Scalar>] = [:]
        for value in (0 as UInt32)...0x10_ffff {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age,
                (age.major, age.minor) <= Self.version
            else { continue }
            let folded = MappedFolding.fold(scalar)
            if CaseFolding.fold(scalar) != folded { Issue.record("\(String(value, radix: 16))") }
            if folded != scalar { variants[folded, default: [folded]].insert(scalar) }
        }
        for (folded, expected) in variants {
            let found = CaseFolding.variants(of: folded)
            #expect(Set(found) == expected && found.count == expected.count)
        }
    }

    /// Letters of several scripts, most with all their variants, and other scalars of one to four bytes.
    private static let scalars: [Unicode.Scalar] = [
        "a", "A", "b", "n", "N", "x", "k", "K", "\u{212a}", "s", "S", "ſ", "ß", "ẞ", "é", "É", "e", "\u{301}", "i",
        "I", "ı", "İ", "ж", "Ж", "в", "В", "\u{1c80}", "σ", "ς", "Σ", "ι", "Ι", "\u{345}", "\u{1fbe}", "ΐ", "\u{1fd3}",
        "ﬅ", "ﬆ", "Ⱥ", "ⱥ", "Ǆ", "ǅ", "ǆ", "Ꭰ", "ꭰ", "漢", "字", "か", "ก", "𐐀", "𐐨", "😀", "\0", "*", "?", "\\", "1",
    ]

    @Test("all kinds of comparison equal those of folded bytes", arguments: 0..<8)
    func same(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        func text(_ most: Int, of scalars: [Unicode.Scalar]) -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<random.below(most + 1) { text.append(scalars[random.below(scalars.count)]) }
            return String(text)
        }
        for _ in 0..<4_000 {
            let some = (0..<1 + random.below(6)).map { _ in Self.scalars[random.below(Self.scalars.count)] }
            let most = random.oneIn(20) ? 300 : random.oneIn(2) ? 40 : 8
            let value = text(most, of: random.oneIn(2) ? Self.scalars : some)
            var part = text(4, of: some)
            if random.oneIn(2) {
                // A part of the value, often at one of its ends, with other variants of its letters.
                let scalars = Array(value.unicodeScalars)
                let rest = scalars.dropFirst(random.below(scalars.count + 1))
                let length = random.below((most > 40 ? 200 : 24) + 1)
                let cut = random.oneIn(3) ? scalars.prefix(length) : rest.prefix(length)
                part = ""
                for scalar in random.oneIn(3) ? rest : cut {
                    let variants = CaseFolding.variants(of: CaseFolding.fold(scalar))
                    part.unicodeScalars.append(variants[random.below(variants.count)])
                }
            }
            let (bytes, wanted) = (MappedFolding.fold(value), MappedFolding.fold(part))
            func check(_ match: TextMatch, _ expected: Bool) {
                let pattern = TextPattern(match, part, foldsCase: true)
                let found = Array(value.utf8).withUnsafeBytes { pattern.matches($0) }
                #expect(found == expected, "\(match) \(part.debugDescription) in \(value), TIDEGAUGE_SEED=\(seed)")
            }
            check(.equals, bytes == wanted)
            check(.beginsWith, bytes.starts(with: wanted))
            check(.endsWith, bytes.reversed().starts(with: wanted.reversed()))
            check(.contains, (0...bytes.count).contains { bytes[$0...].starts(with: wanted) })
            let plain = TextPattern(.like, String(decoding: wanted, as: UTF8.self))
            check(.like, bytes.withUnsafeBytes { plain.matches($0) })
        }
    }
}
