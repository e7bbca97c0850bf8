"""People as a baseline: examples drawn for invited annotators, labelled blind on the site, and scored."""
