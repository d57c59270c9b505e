// One's own store beside others: every engine of the package is a product.
//     swift run side-by-side run commit-latency --driver template --driver livestore --driver grdb-pool
import GRDBDriver
import LiveStoreDriver
import TemplateDriver
import TidegaugeCLI

tidegaugeMain(drivers: [TemplateDriver()], peers: [LiveStoreDriver(), GRDBDriver(.pool), GRDBDriver(.memory)])
