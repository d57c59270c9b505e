// The stress test of LiveStore. One binary is both: the run, and the writers it starts as other processes and kills.
Stress.main()
