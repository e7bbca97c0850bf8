"""Callbacks of other libraries' trainers: when training ends, a submission and dev scores with intervals."""
