// The shipped tidegauge with GRDB and PostgreSQL.
import TidegaugeShipped

shippedMain(peers: linkedDrivers)
