/// Does something again and again until something is so, at most so many times. (A loop with `where` would ask to its end, also once it
/// is so.)
func repeating(atMost times: Int, until isSo: () throws -> Bool, _ body: () throws -> Void) rethrows {
    for _ in 0..<times {
        if try isSo() { return }
        try body()
    }
}
