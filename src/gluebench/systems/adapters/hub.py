"""Uploads of trained systems to the Hugging Face Hub."""

from importlib import import_module
from typing import Any, cast

from gluebench.systems.adapters import ModelError
from gluebench.systems.training.trained import TrainedSystem

TOP = ("README.md", "trained.json", "model.json", "*/model.json", "curves.svg", "*encoder/*")
"""Files of a folder of runs that are uploaded; `scores.json` has paths of this machine."""
OF_RUN = ("best-*", "outcome.json", "card.json", "log.csv")


def expect_ready(repository: str) -> None:
    """Raise ModelError, before a long training, for a name that the hub refuses or if there is no token."""
    from huggingface_hub import get_token
    from huggingface_hub.errors import HFValidationError

    utils: Any = import_module("huggingface_hub.utils")  # the library does not export the function for mypy
    try:
        utils.validate_repo_id(repository)
    except HFValidationError as error:
        raise ModelError(f"{repository}: no name of a repository: {error}; expected OWNER/NAME") from None
    if get_token() is None:
        raise ModelError(
            "an upload to the hub needs a token that may write: run hf auth login, or set HF_TOKEN"
        )


def upload(system: TrainedSystem, repository: str) -> str:
    """Upload what answers the tasks, in one commit, and return the repository's address.

    A new repository is private. Raises ModelError if the hub cannot be reached or refuses.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    patterns = list(TOP)
    for run in system.runs():
        place = run.relative_to(system.folder).as_posix()
        patterns += [f"{place}/{name}" for name in OF_RUN]
    # Releases of the library stand on several HTTP libraries; this is the error of the one that it uses.
    http_error = cast(type[Exception], HfHubHTTPError.__bases__[0])
    api = HfApi()
    try:
        address = api.create_repo(repository, private=True, exist_ok=True)
        api.upload_folder(
            repo_id=repository,
            folder_path=system.folder,
            allow_patterns=patterns,
            commit_message=f"Upload {system.title}",
        )
    except (http_error, OSError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"{repository}: cannot be uploaded: {reason}. The runs are complete in {system.folder}; "
            "the same command uploads them"
        ) from None
    return str(address)
