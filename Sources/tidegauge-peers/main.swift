// The tidegauge that ships, with GRDB and PostgreSQL.
import TidegaugeGRDBDriver
import TidegaugeNullServerDriver
import TidegaugePostgresDriver
import TidegaugeShipped

shippedMain(peers: [GRDBDriver(.pool), GRDBDriver(.memory), NullServerDriver()] + PostgresDriver.all)
