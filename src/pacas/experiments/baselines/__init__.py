"""What SafeClean is compared with: PrivateClean, Greedy-Repair, bounds."""
