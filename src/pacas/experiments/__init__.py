"""The evaluation: errors put into clean data, baselines beside SafeClean, and the figures of the paper."""
