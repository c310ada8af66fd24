"""The paper's study: its data, partitions, grids, models, results, tables and figures.

Nothing here is imported by ``import dnfnet``; what only the study needs comes with ``dnfnet[paper]``.
"""
