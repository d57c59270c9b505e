// What a write block leaves for the next one of a list.

/// A list's rows as at a version.
struct KeptList: Sendable {
    /// So many, of any length, those that were used last.
    static let most = 4

    let plan: QueryPlan
    let tree: RankedTree
    let version: UInt64
}
