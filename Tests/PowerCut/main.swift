// Power cuts. One thread, as it forks; recordings and images have processes of their own.
PowerCut.main()
