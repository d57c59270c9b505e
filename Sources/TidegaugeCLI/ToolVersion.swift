// The one place that says which version this is; a tag of the repository has the same.

enum ToolVersion {
    /// SemVer, without a `v`.
    static let text = "0.1.0"
}
