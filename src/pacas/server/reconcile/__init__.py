"""The W3C Reconciliation Service API 0.2, by which OpenRefine and its like ask and buy. Off unless it is asked for."""
