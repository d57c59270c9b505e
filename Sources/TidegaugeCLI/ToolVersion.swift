// The version of this tool. A release is tagged with `v` and this text.

enum ToolVersion {
    /// Semantic version without a `v`.
    static let text = "0.1.0"
}
