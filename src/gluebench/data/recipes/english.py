"""The options that hold what the WNLI recipe knows of a language, English unless told otherwise."""

from __future__ import annotations

from gluebench.data.recipes.recipe import Option

RULES = (
    Option(
        "clause",
        str,
        "clause",
        "What the hypothesis keeps of the text: the pronoun's clause, sentence, or text.",
    ),
    Option(
        "connectives",
        str,
        "because,but,so,although,though,even though,whereas",
        "A clause begins after these words.",
    ),
    Option(
        "links",
        str,
        "and,or,then,that,why,when,while,after,before,until,as,if,since",
        "A clause begins after these words if the pronoun or another subject pronoun follows.",
    ),
    Option("keeps", str, "so that", "What follows these words keeps what precedes them."),
    Option("subjects", str, "i,he,she,we,they", "Pronouns that can only be subjects."),
    Option("objects", str, "me,him,her,us,them", "Pronouns that are no subject, unless a possessive."),
    Option(
        "abbreviations", str, "mr,mrs,ms,dr,st", "Words whose full stop ends no sentence, without the stop."
    ),
    Option("possessives", str, "his,her,hers,its,their,theirs", "Pronouns that stand for a possessor."),
    Option(
        "object-before",
        str,
        "a,an,the,to,in,on,at,of,for,with,from,by,about,into,and,or,but,because,so,when,that",
        "Words after which a possessive is none: it is an object (English her).",
    ),
    Option("possessive-form", str, "{name}'s", "What replaces a possessive."),
    Option("plural-form", str, "{name}'", "The same for a candidate with the article that ends in s."),
    Option("article", str, "the", "The definite article, small within a sentence; may be empty."),
    Option(
        "determiners",
        str,
        "a,an,my,your,his,her,its,our,their,this,that,these,those",
        "Words that a candidate loses at its beginning, to get the definite form.",
    ),
    Option(
        "definite-form",
        str,
        "the {name}",
        "A candidate without its determiner, or of small letters without one; {name} leaves it as it is.",
    ),
    Option(
        "agreement",
        str,
        "were=was,are=is,have=has,do=does",
        "Verbs after a plural pronoun that a single name replaces.",
    ),
    Option("plurals", str, "they", "Plural pronouns whose verb may have to change."),
    Option("stop", str, ".", "Put at the end of a text without punctuation there."),
)
