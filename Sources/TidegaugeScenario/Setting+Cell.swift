// What stands in a table for a value of a variant: a number that needs no reading. Pure.
import TidegaugeSpec

extension Setting {
    /// The cell of the key `name` where a variant says `text`: a number without its unit (rates per second, durations in ns), a
    /// word as it is, and empty where there is no value, such as the rate of a load without a schedule.
    /// - Complexity: O(length of `text`).
    public static func cell(_ name: String, _ text: String) -> String {
        guard let setting = Setting(rawValue: name) else { return text }
        guard let value = try? setting.value(from: text) else { return text == "none" ? "" : text }
        return switch value {
        case .rateHz(let rate): Quantity.text(rate)
        case .durationNs(let duration): "\(duration)"
        case .word, .integer, .share, .number, .file, .url, .changes: value.text
        }
    }
}
