"""Annotation: examples drawn for invited annotators, who label them blind on the site and are scored."""

from django.apps import AppConfig


class Annotation(AppConfig):
    """Its label is the app's former name, which the tables of released sites begin with."""

    name = __name__
    label = "people"
    verbose_name = "Annotation"
