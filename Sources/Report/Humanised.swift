// Numbers for people: three significant digits and a fitting unit. Files for machines never use this.
import Foundation

enum Humanised {
    /// A value of the `unit` column; `n/a` where there is none.
    static func text(_ value: Double?, unit: String) -> String {
        guard let value, value.isFinite else { return "n/a" }
        let magnitude = roundedToThreeDigits(abs(value))
        let sign = value < 0 && magnitude > 0 ? "-" : ""
        return sign + (unit.hasPrefix("ns") ? time(ns: magnitude) : plain(magnitude))
    }

    /// `1 trial`, `51 trials`.
    static func count(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }

    /// `812 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`.
    private static func time(ns: Double) -> String {
        switch ns {
        case ..<1e3: "\(plain(ns)) ns"
        case ..<1e6: "\(digits(ns / 1e3)) µs"
        case ..<1e9: "\(digits(ns / 1e6)) ms"
        default: "\(digits(ns / 1e9)) s"
        }
    }

    /// `0`, `3`, `0.0421`, `3.14`, `812`, `12.3k`, `4.56M`: a count stays a count.
    private static func plain(_ value: Double) -> String {
        switch value {
        case ..<1e3: value == value.rounded() ? String(format: "%.0f", value) : digits(value)
        case ..<1e6: digits(value / 1e3) + "k"
        default: digits(value / 1e6) + "M"
        }
    }

    /// Rounded before the unit is chosen, or 999.7 ns would be shown as 1000 ns.
    private static func roundedToThreeDigits(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        let scale = pow(10, floor(log10(value)) - 2)
        return scale < 1 ? (value * (1 / scale)).rounded() * scale : (value / scale).rounded() * scale
    }

    private static func digits(_ value: Double) -> String {
        let decimals = max(0, min(6, 2 - Int(floor(log10(value)))))
        return String(format: "%.\(decimals)f", value)
    }
}
