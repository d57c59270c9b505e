// The damager of store files. One binary is both: the run, and the children that it has open the damaged copies.
Damage.main()
