// The tidegauge that ships, without GRDB, which takes half as long to build as all the rest: `tidegauge-peers` has it.
import TidegaugeShipped

shippedMain()
