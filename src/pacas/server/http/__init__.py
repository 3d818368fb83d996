"""HTTP as the service reads it: connections, calls, bodies, and what is said when one fails."""
