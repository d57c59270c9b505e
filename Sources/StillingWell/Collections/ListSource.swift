// Results over the objects of a list. Their rows are those of the list's element table. Filters and orders are
// translated to run over the link from element to object, so that they are kept up to date as any over links are.
import StillingWellBasis

struct ListSource: Sendable {
    let elements: Table
    let owner: ObjectID

    /// Returns the query of elements for a query of their objects. Ties keep the list's order.
    /// - Parameter table: table of the objects.
    func plan(_ asked: Refinement, _ table: Table) -> QueryPlan {
        let isOwn = FilterExpression.compare(column: ListTable.owner, .equal, .link(owner), isOptional: true)
        let passes = asked.filter.conjuncts.map { FilterExpression.linked(column: ListTable.value, $0) }
        let sort = asked.sort.map { over(ListTable.value, $0, table.schema) }
        return QueryPlan(
            table: elements, filter: .and([isOwn] + passes),
            sort: sort + [SortTerm(column: ListTable.position, ascending: true)], limit: asked.limit, fault: asked.fault
        )
    }

    /// Returns `term` prefixed with a link.
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

    /// Returns the id of an element's object, as the connection shows it.
    func objectID(ofElement element: UInt64, _ connection: Connection) -> ObjectID {
        let id = ObjectID(rawValue: element)
        // Without a row, as for an element that the loop has added and removed, the object reads as deleted.
        return connection.rowForGetter(elements, id).map { ObjectID(rawValue: $0.slot(ListTable.value)) } ?? .none
    }
}

extension Results {
    /// Stops the program if these are the objects of a list, which do not support `operation`.
    func checkNotOfList(_ operation: String) {
        stopUnless(
            asked.list == nil,
            """
            \(operation) is not there for the objects of a list: query their class, as \
            connection.objects(\(Object.self).self).where(…), or observe the list
            """)
    }
}
