"""How submissions come in: by the page, by the API, by a command. Each goes through `accept`."""
