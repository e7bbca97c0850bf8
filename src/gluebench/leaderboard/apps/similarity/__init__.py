"""Signs that two submissions have one source: nearly equal predictions, a shared link or mailbox."""
