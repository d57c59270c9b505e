import StillingWell
import Testing

/// What the error says that `body` has to throw.
func refusal(_ body: () throws -> Void) -> String {
    let error = #expect(throws: StoreError.self) { try body() }
    return error.map { "\($0)" } ?? ""
}
