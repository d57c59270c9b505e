// The indices of the store's collections, in one place.

/// A collection whose indices count from 0.
///
/// A conforming type implements `count` and the subscript. The other members replace those of the standard library,
/// which documents them: its versions check against `endIndex`, and so against `count`, which may read the store.
public protocol _ZeroIndexed: RandomAccessCollection where Index == Int, Indices == Range<Int> {}

extension _ZeroIndexed {
    @_documentation(visibility: internal) @inlinable
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal) @inlinable
    public var endIndex: Int { count }
    @_documentation(visibility: internal) @inlinable
    public func index(after index: Int) -> Int { index + 1 }
    @_documentation(visibility: internal) @inlinable
    public func index(before index: Int) -> Int { index - 1 }
    @_documentation(visibility: internal) @inlinable
    public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
    @_documentation(visibility: internal) @inlinable
    public func distance(from start: Int, to end: Int) -> Int { end - start }
}
