"""Pages of the people who take part in a benchmark."""
