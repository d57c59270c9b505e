// The shipped tidegauge without GRDB, whose build takes half as long as all the rest; `tidegauge-peers` has it.
import TidegaugeShipped

shippedMain()
