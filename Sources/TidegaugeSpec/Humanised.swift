// Numbers formatted for people.
import Foundation

public enum Humanised {
    /// Formats a value: as a time if `unit` begins with `ns`, otherwise as a number without a unit. Returns `n/a` if
    /// there is no finite value.
    /// - Parameter digits: number of significant digits.
    public static func text(_ value: Double?, unit: String, digits: Int = 3) -> String {
        guard let value, value.isFinite else { return "n/a" }
        let magnitude = rounded(abs(value), digits)
        let sign = value < 0 && magnitude > 0 ? "-" : ""
        return sign + (unit.hasPrefix("ns") ? time(ns: magnitude, digits) : plain(magnitude, digits))
    }

    /// Formats a share as a percentage: `92 %`.
    public static func share(_ share: Double) -> String { String(format: "%.0f %%", share * 100) }

    /// Formats an integer with digit groups separated by commas: `1,000,000`.
    public static func grouped(_ count: Int) -> String {
        let digits = Array("\(count.magnitude)")
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[max(0, $0 - 3)..<$0]) }
        return (count < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// Formats a rate per second: `500`, `10,000`, `2.50`, `0.400`. Rates that are not integral get three significant
    /// digits.
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

    /// Formats a number: `0`, `3`, `0.0421`, `3.14`, `812`, `12.3k`, `4.56M`. Integers below 1000 get no fraction.
    private static func plain(_ value: Double, _ digits: Int) -> String {
        switch value {
        case ..<1e3: value == value.rounded() ? String(format: "%.0f", value) : decimal(value, digits)
        case ..<1e6: decimal(value / 1e3, digits) + "k"
        default: decimal(value / 1e6, digits) + "M"
        }
    }

    /// Rounds before the unit is chosen, so that 999.7 ns does not become 1000 ns.
    private static func rounded(_ value: Double, _ digits: Int) -> Double {
        guard value > 0 else { return 0 }
        let scale = pow(10, floor(log10(value)) - Double(digits - 1))
        let rounded = scale < 1 ? (value * (1 / scale)).rounded() * scale : (value / scale).rounded() * scale
        // The product overflows for the largest doubles, and `1 / scale` for the smallest.
        return rounded.isFinite ? rounded : value
    }

    private static func decimal(_ value: Double, _ digits: Int) -> String {
        let decimals = max(0, min(digits + 3, digits - 1 - Int(floor(log10(value)))))
        return String(format: "%.\(decimals)f", value)
    }
}
