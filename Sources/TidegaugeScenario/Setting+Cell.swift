// Table cells for the values of a variant. Pure.
import TidegaugeSpec

extension Setting {
    /// Returns the cell for key `name` with value `text`: a plain number for a rate (per second) or a duration (ns),
    /// otherwise text. Empty for `none` if the key has no such value, as for the rate of a closed load.
    public static func cell(_ name: String, _ text: String) -> String {
        guard let setting = Setting(rawValue: name) else { return text }
        guard let value = try? setting.value(from: text) else { return text == "none" ? "" : text }
        return switch value {
        case .rateHz(let rate): Quantity.text(rate)
        case .durationNs(let duration): "\(duration)"
        case .word, .integer, .share, .number, .file, .url, .condition, .changes: value.text
        }
    }
}
