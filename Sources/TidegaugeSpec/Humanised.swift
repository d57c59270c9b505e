// Numbers for people: three significant digits and a fitting unit. Files for machines never use this.
import Foundation

public enum Humanised {
    /// A value of the `unit` column; `n/a` where there is none.
    /// - Parameter digits: significant ones; more only where three would hide what matters.
    public static func text(_ value: Double?, unit: String, digits: Int = 3) -> String {
        guard let value, value.isFinite else { return "n/a" }
        let magnitude = rounded(abs(value), digits)
        let sign = value < 0 && magnitude > 0 ? "-" : ""
        return sign + (unit.hasPrefix("ns") ? time(ns: magnitude, digits) : plain(magnitude, digits))
    }

    /// `92 %` of something whole.
    public static func share(_ share: Double) -> String { String(format: "%.0f %%", share * 100) }

    /// `1 000 000`, with spaces at which no line breaks.
    public static func grouped(_ count: Int) -> String {
        let digits = Array("\(count.magnitude)")
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[max(0, $0 - 3)..<$0]) }
        return (count < 0 ? "-" : "") + groups.reversed().joined(separator: "\u{A0}")
    }

    /// `500`, `10 000`, `2.5`, `0.4`: what a scenario file says, to three significant digits.
    public static func rate(_ perSecond: Double) -> String {
        perSecond == perSecond.rounded() && perSecond < 1e15 ? grouped(Int(perSecond)) : text(perSecond, unit: "1")
    }

    /// `1 trial`, `51 trials`.
    public static func count(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }

    /// `812 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`.
    private static func time(ns: Double, _ digits: Int) -> String {
        switch ns {
        case ..<1e3: "\(plain(ns, digits)) ns"
        case ..<1e6: "\(decimal(ns / 1e3, digits)) µs"
        case ..<1e9: "\(decimal(ns / 1e6, digits)) ms"
        default: "\(decimal(ns / 1e9, digits)) s"
        }
    }

    /// `0`, `3`, `0.0421`, `3.14`, `812`, `12.3k`, `4.56M`: a count stays a count.
    private static func plain(_ value: Double, _ digits: Int) -> String {
        switch value {
        case ..<1e3: value == value.rounded() ? String(format: "%.0f", value) : decimal(value, digits)
        case ..<1e6: decimal(value / 1e3, digits) + "k"
        default: decimal(value / 1e6, digits) + "M"
        }
    }

    /// Before the unit is chosen, or 999.7 ns would be shown as 1000 ns.
    private static func rounded(_ value: Double, _ digits: Int) -> Double {
        guard value > 0 else { return 0 }
        let scale = pow(10, floor(log10(value)) - Double(digits - 1))
        let rounded = scale < 1 ? (value * (1 / scale)).rounded() * scale : (value / scale).rounded() * scale
        // The ends of what a Double holds have no such scale.
        return rounded.isFinite ? rounded : value
    }

    private static func decimal(_ value: Double, _ digits: Int) -> String {
        let decimals = max(0, min(digits + 3, digits - 1 - Int(floor(log10(value)))))
        return String(format: "%.\(decimals)f", value)
    }
}
