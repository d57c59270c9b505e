// The tidegauge that ships, with GRDB and PostgreSQL.
import GRDBDriver
import NullServerDriver
import PostgresDriver
import TidegaugeShipped

shippedMain(peers: [GRDBDriver(.pool), GRDBDriver(.memory), NullServerDriver()] + PostgresDriver.all)
