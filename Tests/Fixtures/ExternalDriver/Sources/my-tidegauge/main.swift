// A command line that measures one's own store: run it as tidegauge is run.
//     swift run my-tidegauge run path/to/Scenarios --driver template
import TemplateDriver
import TidegaugeCLI

tidegaugeMain(drivers: [TemplateDriver()])
