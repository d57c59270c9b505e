// The shipped tidegauge without GRDB, which takes long to build; `tidegauge-peers` has it.
import TidegaugeShipped

shippedMain()
