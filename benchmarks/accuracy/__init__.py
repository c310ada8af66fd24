"""The accuracy bench: variants of DNF-Net and their rivals on the same rows, on the study's store and runner.

    python -m benchmarks.accuracy run --variants default xgboost --datasets gesture adult --partitions 0 1
    python -m benchmarks.accuracy table

See docs/accuracy-bench.md.
"""
