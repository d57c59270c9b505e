// Your own store beside others. Every engine of the package is a product:
//     swift run side-by-side run commit-latency --driver template --driver stillingwell --driver grdb-pool
import TemplateDriver
import TidegaugeCLI
import TidegaugeGRDBDriver
import TidegaugeStillingWellDriver

tidegaugeMain(drivers: [TemplateDriver()], peers: [StillingWellDriver(), GRDBDriver(.pool), GRDBDriver(.memory)])
