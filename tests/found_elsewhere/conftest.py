"""What dbt and Soda found in `patients.csv` is kept beside it; the scripts that made it need those tools."""

collect_ignore_glob = ["record_*.py"]
