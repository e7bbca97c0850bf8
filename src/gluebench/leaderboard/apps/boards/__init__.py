"""The public pages: boards, diagnostics, home."""
