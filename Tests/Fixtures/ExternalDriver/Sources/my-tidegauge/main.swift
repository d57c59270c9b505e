// A command line that measures your own store. Run it like tidegauge:
//     swift run my-tidegauge run path/to/Scenarios --driver template
import TemplateDriver
import TidegaugeCLI

tidegaugeMain(drivers: [TemplateDriver()])
