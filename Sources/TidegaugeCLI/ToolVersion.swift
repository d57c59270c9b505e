// The version of this tool. A tag of the repository has the same.

enum ToolVersion {
    /// Semantic version without a `v`.
    static let text = "0.1.0"
}
