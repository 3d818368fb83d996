"""The paper's claims, judged by the runs."""
