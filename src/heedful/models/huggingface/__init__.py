"""A transformer that classifies texts, as it is: nothing is trained, and no architecture is known by its name.

What is audited is its last attention layer at the places its head reads. One run finds where that is (`place`), and every
network proves that the numbers are its own before anybody sees them (`self_check`); what fails is refused with the reason.
"""
