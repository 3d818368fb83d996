"""What dbt and Soda found in `patients.csv` is kept beside it; the scripts that make it need those tools."""

collect_ignore_glob = ["run_*.py"]
