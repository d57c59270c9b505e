print("tidegauge")
