"""Running audits: one after the other, kept as they finish, given back as one result, and shown."""
