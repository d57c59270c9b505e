// The engine's header of the version that is flushed, as it stands in the store's file, which one of the next two commits writes over.
import CStillingWellLMDB

struct FlushHeader {
    let bytes: [UInt8]
    let pageBytes: Int
    /// Of the pages that its two trees begin with.
    let rootsSum: UInt32

    /// That of what a reader reads, which moves on until the file still has it.
    /// - Throws: and puts the reader back, where the newest header is damaged.
    init(
        of reader: FlushReader, _ readers: FlushReaders, _ environment: OpaquePointer, _ directory: String
    ) throws(StoreError) {
        while true {
            let (pages, number) = (FilePages(of: environment, directory), reader.number)
            let page = pages.read(number & 1)
            // As long as the commit after it is not told, nobody has begun to write over it. No page of that version is used again
            // meanwhile either: the next commit takes none that the newest has freed.
            try readers.begin(again: reader)
            if reader.number != number { continue }
            guard let page, let meta = page.withUnsafeBytes({ MetaPage($0, number & 1) }), meta.transaction == number
            else {
                readers.putBack(reader)
                throw .storage(
                    operation: "flush", code: MDB_CORRUPTED,
                    reason: """
                        the newest header of the store at \(directory) is damaged; restore it from a backup, or salvage it
                        """)
            }
            bytes = Array(page[FlushRecord.header])
            pageBytes = pages.pageBytes
            rootsSum = FlushRecord.sum([meta.free.root, meta.tables.root].map { $0.flatMap { pages.read($0) } })
            return
        }
    }
}
