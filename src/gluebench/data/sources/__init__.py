"""Where examples come from: the hub, the official archives, a folder in one of the layouts people have."""
