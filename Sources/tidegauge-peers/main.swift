// The tidegauge that ships, with GRDB and PostgreSQL.
import TidegaugeShipped

shippedMain(peers: linkedDrivers)
