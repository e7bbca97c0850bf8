"""The ledger: a public, signed, append-only log of every change of a row that a board shows."""
