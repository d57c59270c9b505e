// An observer of one property of one object, called by setters, deliveries and cancelled writes. On the connection's
// scheduler.

final class PropertyObserver {
    let token: ObjectToken
    let column: Int
    private var known: ColumnValue
    private let wantsPrior: Bool
    private let tell: (_ isPrior: Bool, _ isOwn: Bool, _ old: ColumnValue?, _ new: ColumnValue?) -> Void

    init(
        _ token: ObjectToken, _ column: Int, known: ColumnValue, wantsPrior: Bool,
        _ tell: @escaping (Bool, Bool, ColumnValue?, ColumnValue?) -> Void
    ) {
        self.token = token
        self.column = column
        self.known = known
        self.wantsPrior = wantsPrior
        self.tell = tell
    }

    func willSet() {
        guard wantsPrior, token.begin() else { return }
        tell(true, true, known, nil)
        token.end()
    }

    func changed(to value: ColumnValue, isOwn: Bool) {
        guard token.begin() else { return }
        let old = known
        known = value
        tell(false, isOwn, old, value)
        token.end()
    }

    /// Reports the row's value if it differs from the last reported one, as after a delivery or a cancelled write.
    func recheck(_ row: RowReader?) {
        guard let row else { return }
        let now = row.value(column, token.object.table.schema.columns[column])
        if now != known { changed(to: now, isOwn: false) }
    }
}
