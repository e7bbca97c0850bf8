"""Annotation: examples drawn for invited annotators, who label them blind on the site and are scored."""

from django.apps import AppConfig


class Annotation(AppConfig):
    """The app; its label starts the names of its tables, in exports too."""

    name = __name__
    label = "people"
    verbose_name = "Annotation"
