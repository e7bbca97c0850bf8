"""Reading errors: examples with what systems answered, chosen, counted and set as a page of their own."""

from gluebench.analysis.errors.cases import Case, CaseFile, CaseFilter, Rate, rates, read_cases

__all__ = ["Case", "CaseFile", "CaseFilter", "Rate", "rates", "read_cases"]
