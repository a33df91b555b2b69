"""
From verdicts to a plan: waterlines, gaps, order, eligibility, and how far to go. Pure; nothing here touches the
machine.
"""
