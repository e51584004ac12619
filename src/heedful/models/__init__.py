"""Models in four stages: embed → encode → attend → decode, each callable alone.

Every audit, explainer and objective is a question about these stages or a change to one of them.
"""
