"""The processes of a site: web server, workers, grader, their settings from the environment, and health."""
