// LMDB's header of the version that is flushed. The second commit after it overwrites it in the store's file.
import CStillingWellLMDB

struct FlushHeader {
    let bytes: [UInt8]
    let pageBytes: Int
    /// Checksum of the root pages of both B-trees.
    let rootsSum: UInt32

    /// Reads the header of the version that `reader` pins. If a commit comes meanwhile, moves the reader to it and
    /// reads again.
    /// - Throws: `storage` if the newest header is damaged; errors of `begin(again:)`. The reader is then returned to
    ///   the pool.
    init(
        of reader: FlushReader, _ readers: FlushReaders, _ environment: OpaquePointer, _ directory: String
    ) throws(StoreError) {
        while true {
            let (pages, number) = (FilePages(of: environment, directory), reader.number)
            let page = pages.read(number & 1)
            // If the next commit is not visible yet, no writer has begun to overwrite the header. Pages of this version
            // are not reused either: the next commit uses no pages that the newest has freed.
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
