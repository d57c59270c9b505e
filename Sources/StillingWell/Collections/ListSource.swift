// Results whose objects are those of a list: rows of the list's own table, each of which leads to one. What is asked of
// the objects is asked over that link, so that whatever keeps filters and orders over links true keeps these too.
import StillingWellBasis

struct ListSource: Sendable {
    let elements: Table
    let owner: ObjectID

    /// The query of elements that a query of their objects is; in the list's order where nothing else decides.
    /// - Parameter table: that of the objects.
    func plan(_ asked: Refinement, _ table: Table) -> QueryPlan {
        let isOwn = FilterExpression.compare(column: ListTable.owner, .equal, .link(owner), isOptional: true)
        let passes = asked.filter.conjuncts.map { FilterExpression.linked(column: ListTable.value, $0) }
        let sort = asked.sort.map { over(ListTable.value, $0, table.schema) }
        return QueryPlan(
            table: elements, filter: .and([isOwn] + passes),
            sort: sort + [SortTerm(column: ListTable.position, ascending: true)], limit: asked.limit, fault: asked.fault
        )
    }

    /// A term of a table, as seen from where a link leads there.
    private func over(_ link: Int, _ term: SortTerm, _ table: TableSchema) -> SortTerm {
        var term = term
        if term.over == nil {
            let column = table.columns[term.column]
            term.over = LinkedColumn(links: [link], type: column.type, isOptional: column.isOptional)
        } else {
            term.over?.links.insert(link, at: 0)
        }
        return term
    }

    /// The object that an element stands for, as the connection shows it.
    func objectID(ofElement element: UInt64, _ connection: Connection) -> ObjectID {
        let id = ObjectID(rawValue: element)
        // An element that a loop has taken off itself stands for nothing any more: its object reads as deleted.
        return connection.rowForGetter(elements, id).map { ObjectID(rawValue: $0.slot(ListTable.value)) } ?? .none
    }
}

extension Results {
    /// Stops what the rows of a list cannot do.
    func checkNotOfList(_ operation: String) {
        stopUnless(
            asked.list == nil,
            """
            \(operation) is not there for the objects of a list: query their class, as \
            connection.objects(\(Object.self).self).where(…), or observe the list
            """)
    }
}
