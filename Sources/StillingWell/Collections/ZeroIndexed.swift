// The indices of the store's collections, in one place.

/// A collection whose indices count from 0.
///
/// A conforming type implements `count` and the subscript. The standard library's versions of these members ask for the
/// end, and so for the count, which may cost a look at the store. They are documented there.
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
