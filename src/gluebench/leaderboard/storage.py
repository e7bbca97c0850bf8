"""Where files are kept that several machines share: a folder, or a bucket of an S3 service."""

from __future__ import annotations

import os
from typing import Any

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from gluebench.leaderboard.environment import Bucket
from gluebench.leaderboard.folder import PRIVATE_FILE, PRIVATE_FOLDER, STORAGE, SiteFolder, need


class Folder(FileSystemStorage):
    """A folder whose files outlast a power cut once they are saved."""

    def _save(self, name: str, content: File[bytes]) -> str:
        name = super()._save(name, content)  # type: ignore[misc]
        path = self.path(name)
        for place in (path, os.path.dirname(path), self.location):
            opened = os.open(place, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
        return name


def of(bucket: Bucket | None, site: SiteFolder) -> dict[str, dict[str, Any]]:
    """Django's storages of submitted files and of labels. Raises SiteError."""
    if bucket is None:
        return {"submissions": _folder(site.submissions), "labels": _folder(site.labels)}
    need("storages", "s3", STORAGE)
    return {name: _bucket(bucket, name) for name in ("submissions", "labels")}


def _folder(path: object) -> dict[str, Any]:
    return {
        "BACKEND": f"{__name__}.{Folder.__name__}",
        "OPTIONS": {
            "location": str(path),
            "file_permissions_mode": PRIVATE_FILE,
            "directory_permissions_mode": PRIVATE_FOLDER,
        },
    }


def _bucket(bucket: Bucket, part: str) -> dict[str, Any]:
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket.name,
            "location": "/".join(filter(None, (bucket.prefix, part))),
            "endpoint_url": bucket.endpoint,
            "region_name": bucket.region,
            "file_overwrite": False,
            "default_acl": None,
        },
    }
